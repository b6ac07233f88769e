"""Norm balls, ellipsoids and boxes."""
