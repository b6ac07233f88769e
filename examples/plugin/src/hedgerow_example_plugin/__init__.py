"""A method and a kind of problem for Hedgerow."""
