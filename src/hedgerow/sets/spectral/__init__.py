"""Sets of matrices given by their spectrum."""
