-- One-time passwords end; those that people chose do not. Of earlier ones, all end with this step.
ALTER TABLE service_users ADD COLUMN password_expires BIGINT NOT NULL DEFAULT 0;
