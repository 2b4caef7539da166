"""Behind the door: categorical rows."""
