"""What a guarantee is, and the ledger that is charged for it.

The public names are listed in __init__.pyi, and imported when they are used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
