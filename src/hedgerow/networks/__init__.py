"""Networks from measurement files, which record what was measured and what was generated."""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
