-- A job begins at a tick, and what it came to is settled at one; until then it counts as running.
ALTER TABLE service_jobs ADD COLUMN began_at BIGINT;
ALTER TABLE service_jobs ADD COLUMN freezes TEXT NOT NULL DEFAULT '';
ALTER TABLE service_releases ADD COLUMN flaws TEXT NOT NULL DEFAULT '[]';
