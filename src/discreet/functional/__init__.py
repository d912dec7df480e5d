"""Pillar one: noise on the coefficients of the objective, then minimise.

The public names are listed in __init__.pyi, and imported when they are used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
