"""Matchings and transport plans."""
