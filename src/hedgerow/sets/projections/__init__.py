"""Projections by linear minimisation, exact and approximate."""
