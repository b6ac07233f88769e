"""A method, a kind of problem and a set for Hedgerow."""
