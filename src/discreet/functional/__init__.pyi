from .forecast import Forecast as Forecast
from .logit import LogisticObjective as LogisticObjective
from .objectives import QuadraticObjective as QuadraticObjective
from .objectives import SquaredObjective as SquaredObjective
