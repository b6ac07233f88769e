"""Surrogates: how cost and constraint of a round become one loss."""
