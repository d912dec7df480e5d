"""How many examples a property is tried on: some by day (`make test`), all of them by night (`make nightly`)."""

import os

AT_NIGHT = os.environ.get("DISCREET_HYPOTHESIS") == "new examples"


def examples(by_day, by_night):
    """Return how many examples of a property to try in this run.

    Parameters
    ----------
    by_day : int
        As many as find the bugs that are planted, and more.
    by_night : int
        Where new examples are tried, for which there is time.
    """
    return by_night if AT_NIGHT else by_day
