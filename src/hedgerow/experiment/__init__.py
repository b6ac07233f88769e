"""Experiments: problems x methods x presets x horizons x seeds, to files on disk."""
