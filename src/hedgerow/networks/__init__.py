"""Networks: from measurement files to graphs that say what was measured and what was invented."""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
