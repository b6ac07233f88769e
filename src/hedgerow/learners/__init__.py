"""Learners: each plays one sequence of losses on one decision set."""
