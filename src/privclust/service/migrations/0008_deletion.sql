-- What is deleted leaves its row: names stay taken, and rows of data stay paid for from one budget.
ALTER TABLE service_users ADD COLUMN deleted BIGINT NOT NULL DEFAULT 0;
ALTER TABLE service_datasets ADD COLUMN deleted BIGINT NOT NULL DEFAULT 0;
ALTER TABLE service_releases ADD COLUMN deleted BIGINT NOT NULL DEFAULT 0;
CREATE INDEX service_jobs_asked_at ON service_jobs (asked_at);
-- Texts that a steward sets for the whole service, such as that of maintenance.
CREATE TABLE service_notices (
  name TEXT PRIMARY KEY,
  text TEXT NOT NULL
);
