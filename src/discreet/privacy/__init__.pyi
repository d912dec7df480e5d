from .coins import Coins as Coins
from .curves.composition import compose_plan as compose_plan
from .curves.piecewise import PiecewiseLinear as PiecewiseLinear
from .curves.runtimes import geometric_runtime as geometric_runtime
from .curves.tradeoff import TradeoffFunction as TradeoffFunction
