"""What is proved: one function per theorem and lemma, and from which horizon it says anything."""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
