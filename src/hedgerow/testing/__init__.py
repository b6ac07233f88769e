"""The conformance kit: what every set, learner and policy keeps, yours included.

A contract is a tuple of small checks; each is run on the part that you hand over, and the first
that fails raises an AssertionError that names it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
