"""Sets made of other sets, and sets given by rows or an oracle."""
