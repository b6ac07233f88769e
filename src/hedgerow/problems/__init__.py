"""Problems: round sequences with a feasible point, one class per story."""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
