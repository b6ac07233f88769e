"""What is proved: one function per theorem and lemma, and from which horizon it says anything."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
