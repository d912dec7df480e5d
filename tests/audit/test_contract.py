"""Every estimator that pays is audited through its own `fit`; see `contract.py`."""

import inspect
from typing import ClassVar

import numpy as np

import discreet as dp
from audit.contract import BOX, REPLACE, AuditContract, Convicting

# Residuals are clipped far below the limits of the target, so that all of a step's price shows.
CLIPPED = {"clip": 0.05}
STEPS = {"n_steps": 1, "step_size": 1.0}
DESCENT = {"method": "descent", "gram_share": "1/2", **STEPS, **BOX, "row_norm": None}
SELECTED = [{"method": name, "sparsity": 1, **STEPS} for name in ("threshold", "peel")]
SPARSE_WAYS = [{"selection": name, "sparsity": 1, **STEPS} for name in ("all", "threshold", "peel", "coordinate")]


class TestLinearRegression(Convicting, AuditContract):
    """The front door, for numbers."""

    of, factor = "LinearRegression", 20
    ways: ClassVar = (*({**way, **CLIPPED} for way in SELECTED), {**DESCENT, **CLIPPED})
    selecting: ClassVar = ways[:2]


class TestLogisticRegression(AuditContract):
    """The front door, for labels."""

    of, target = "LogisticRegression", "label"
    ways: ClassVar = (*SELECTED, DESCENT)
    selecting: ClassVar = tuple(SELECTED)


class TestPoissonRegression(AuditContract):
    """The front door, for counts."""

    of, target = "PoissonRegression", "count"
    ways: ClassVar = (*SELECTED, DESCENT)
    selecting: ClassVar = tuple(SELECTED)


class TestFunctionalLinearRegression(Convicting, AuditContract):
    """The first pillar, for numbers."""

    of, declared = "FunctionalLinearRegression", BOX

    def read(self, model):
        """Return the noisy matrix, too."""
        entries = model.release_.value.entries
        return np.append(super().read(model), entries[np.triu_indices_from(entries)])


class TestFunctionalLogisticRegression(TestFunctionalLinearRegression):
    """The first pillar, for labels."""

    of, target = "FunctionalLogisticRegression", "label"


class TestSparseLinearRegression(Convicting, AuditContract):
    """The second pillar, for numbers."""

    of = "SparseLinearRegression"
    ways: ClassVar = tuple({**way, **CLIPPED} for way in SPARSE_WAYS)
    selecting: ClassVar = ways[1:]


class TestSparseLogisticRegression(AuditContract):
    """The second pillar, for labels."""

    of, target = "SparseLogisticRegression", "label"
    ways: ClassVar = tuple(SPARSE_WAYS)
    selecting: ClassVar = ways[1:]


class TestFrankWolfeLinearRegression(AuditContract):
    """A rival, for numbers."""

    of = "FrankWolfeLinearRegression"
    ways: ClassVar = ({"radius": 1.0, "n_steps": 1},)
    selecting: ClassVar = ways


class TestFrankWolfeLogisticRegression(TestFrankWolfeLinearRegression):
    """A rival, for labels."""

    of, target = "FrankWolfeLogisticRegression", "label"


class TestTwoStageLinearRegression(AuditContract):
    """A rival, for numbers."""

    of, budget, runs = "TwoStageLinearRegression", dp.Approx(epsilon="1/2", delta="1/100"), 64
    nightly_runs = 100
    ways: ClassVar = ({"sparsity": 1, "n_blocks": 1},)
    selecting: ClassVar = ways


class TestTwoStageLogisticRegression(TestTwoStageLinearRegression):
    """A rival, for labels."""

    of, target = "TwoStageLogisticRegression", "label"


class TestPerturbedLogisticRegression(AuditContract):
    """A rival of perturbed objectives and outputs."""

    of, target, budget = "PerturbedLogisticRegression", "label", dp.Pure(epsilon="1/2")
    ways: ClassVar = ({"method": "objective"}, {"method": "output"})


class Slow(AuditContract):
    """What takes long is audited by day in its fullest variant alone."""

    runs, nightly_runs = 64, 100

    def by_day(self):
        """Return the fullest variant."""
        return [self.variants()[-1]]


class TestKNormGradientLinearRegression(Slow):
    """The third pillar, for numbers."""

    of, budget, adjacencies, takes_sparse = "KNormGradientLinearRegression", dp.Pure(epsilon="1/2"), (REPLACE,), False
    n_columns = 1
    ways: ClassVar = ({"ridge": 20, **CLIPPED},)


class TestKNormGradientLogisticRegression(Slow):
    """The third pillar, for labels."""

    of, target, budget = "KNormGradientLogisticRegression", "label", dp.Pure(epsilon="1/2")
    adjacencies, takes_sparse, n_columns = (REPLACE,), False, 1
    ways: ClassVar = ({"ridge": 20},)


class TestKNormGradientQuantileRegression(AuditContract):
    """The third pillar, on a grid."""

    of, declared, adjacencies = "KNormGradientQuantileRegression", BOX, (REPLACE,)
    ways: ClassVar = ({"grid_points": 5},)


class TestPrivatePCA(Convicting, AuditContract):
    """Components."""

    of, target, takes_sparse = "PrivatePCA", "none", False
    factor, loud_runs = 12, 300

    def neighbours(self, variant):
        """Return rows whose last is of the one axis or the other."""
        first, second = super().neighbours(variant)
        if variant.adjacency == REPLACE:
            second.X[-1, 0] = 0.0
        return first, second

    def read(self, model):
        """Return the direction, and its square, which has no sign."""
        return np.append(model.components_[0], model.components_[0, 0] ** 2)


class TestPrivateSearch(AuditContract):
    """A search over sparse models; its fits are many, so that it is audited by night."""

    of, budget, nightly_runs = "PrivateSearch", dp.Approx(epsilon=1, delta="1/100"), 100
    ways: ClassVar = TestSparseLinearRegression.ways[1:2]

    def by_day(self):
        """Return none."""
        return []

    def variants(self, way=None):
        """Return those of the model that is searched for."""
        return TestSparseLinearRegression.variants(TestSparseLinearRegression(), way or self.ways[0])

    def make(self, variant, budget=None):
        """Return the search over two numbers of steps of a model of the variant."""
        model = TestSparseLinearRegression().make(variant, dp.Zcdp(rho=1))
        budget = self.budget if budget is None else budget
        return dp.PrivateSearch(model, {"n_steps": [1, 2]}, budget=budget, mean_runs=2, test_share=0.4)

    def read(self, model):
        """Return what was found, its score and its settings."""
        best = super().read(model.best_estimator_)
        return np.append(best, [model.best_score_, model.best_params_["n_steps"]])


def test_every_estimator_that_pays_keeps_the_contract():
    """Whatever is added to the package and has a budget needs a subclass here."""
    fitted = [name for name in dp.__all__ if inspect.isclass(getattr(dp, name)) and hasattr(getattr(dp, name), "fit")]
    paid = {name for name in fitted if "budget" in inspect.signature(getattr(dp, name)).parameters}
    kept = {kind.of for kind in globals().values() if inspect.isclass(kind) and hasattr(kind, "of")}
    assert kept == paid
    assert len(paid) >= 17
