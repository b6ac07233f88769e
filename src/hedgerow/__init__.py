"""Hedgerow: good decisions every round, with one linear minimisation and no projection."""
