"""What is declared about a table: public facts alone."""
