"""Behind the door: source rows as seen from public targets."""
