"""Geometry: decision sets, each behind one linear minimisation oracle."""
