"""Settings of all tests."""

import os

from hypothesis import settings

# `make test` tries the same examples every time, so that a red run means a change; `make nightly` looks for new ones.
# No deadlines: the machine may be busy.
settings.register_profile("same examples", derandomize=True, deadline=None)
settings.register_profile("new examples", deadline=None)
settings.load_profile(os.environ.get("DISCREET_HYPOTHESIS", "same examples"))
