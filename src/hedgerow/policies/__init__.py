"""Policies: ask and tell with cost and constraint, one file per paper or family."""
