"""What is proved: one function per theorem and lemma, and from which horizon it says anything."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
