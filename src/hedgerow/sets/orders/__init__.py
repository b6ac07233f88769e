"""Rankings and schedules."""
