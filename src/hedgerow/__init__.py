"""Hedgerow: online decisions under constraints, one linear minimisation per round, no projection.

>>> import hedgerow as hr
>>> problem = hr.ShortestPath.random_network(nodes=30, edges=90, horizon=50, seed=0)
>>> policy = hr.projection_free_coco(problem.decision_set)
>>> for cost, constraint in problem:
...     x = policy.ask()
...     policy.tell(hr.first_order(cost, x), hr.first_order(constraint, x))
>>> policy.oracle_calls
50
"""

from hedgerow.imports import attach_lazy

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
