"""Networks: from measurement files to graphs that say what was measured and what was invented."""
