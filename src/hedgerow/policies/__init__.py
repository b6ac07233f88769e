"""Policies: ask and tell with cost and constraint, one file per paper or family."""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
