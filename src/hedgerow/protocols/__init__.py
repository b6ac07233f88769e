"""The seams: learner, surrogate, policy, problem, and what a game leaves behind."""
