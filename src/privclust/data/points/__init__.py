"""Behind the door: numeric rows."""
