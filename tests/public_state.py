"""What a fitted model holds beside its release and what follows from it alone."""

FOLLOWS = {"coef_", "intercept_", "release_", "moments_", "noise_dominated_", "uncertainty_", "why_no_intervals_"}
FOLLOWS_IN_RESULT = {"coefs", "constants", "params", "notes", "noise_dominated", "uncertainty", "no_intervals"}
FOLLOWS_IN_RESULT |= {"ridge", "bootstrap"}


def beside_the_release(model):
    """Return it by name, as text: neighbours with equal coins must agree in all of it."""
    own = {name: repr(value) for name, value in vars(model).items() if name not in FOLLOWS | {"result_"}}
    of_result = {
        f"result_.{name}": repr(value) for name, value in vars(model.result_).items() if name not in FOLLOWS_IN_RESULT
    }
    return own | of_result
