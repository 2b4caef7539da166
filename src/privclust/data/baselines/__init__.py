"""Behind the door: questions that only the baselines ask about numeric rows."""
