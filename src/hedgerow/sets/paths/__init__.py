"""Paths, walks and flows of a graph."""
