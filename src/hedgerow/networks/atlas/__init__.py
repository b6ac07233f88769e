"""RIPE Atlas results: how they are delivered, one parser for each type, and the star they make."""
