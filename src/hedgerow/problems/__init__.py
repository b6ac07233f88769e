"""Problems: round sequences with a feasible point, one file per story."""
