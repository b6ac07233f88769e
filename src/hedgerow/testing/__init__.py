"""The conformance kit: checks for sets, learners and policies, including your own.

A contract is a tuple of small checks; each is run on the part that you hand over, and the first
that fails raises an AssertionError that names it.
"""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
