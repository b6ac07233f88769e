"""Every method that is not the paper's own, one file per paper family, and the registry of all."""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
