"""Adversaries: games built to hurt, and a search for games that hurt a given policy."""
