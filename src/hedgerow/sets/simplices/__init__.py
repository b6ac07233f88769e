"""Simplices and knapsacks."""
