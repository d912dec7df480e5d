"""What is drawn from: public declarations and envelopes."""
