"""Behind the door: matrices of counts."""
