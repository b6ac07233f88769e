"""The report of an experiment: summary, figures, verdicts, tables and one page."""
