-- Checks of files run beside the pages; what they counted is kept in memory alone.
CREATE TABLE service_checks (
  id TEXT PRIMARY KEY,
  instance TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES service_users (id),
  act TEXT NOT NULL CHECK (act IN ('register', 'check', 'try')),
  name TEXT NOT NULL,
  dataset_id TEXT NOT NULL,
  typed TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'done', 'refused')),
  message TEXT NOT NULL,
  began BIGINT NOT NULL
);
-- Budget that analysts ask for.
CREATE TABLE service_requests (
  id TEXT PRIMARY KEY,
  dataset_id TEXT NOT NULL REFERENCES service_datasets (id),
  user_id TEXT NOT NULL REFERENCES service_users (id),
  epsilon TEXT NOT NULL,
  delta TEXT NOT NULL,
  reason TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'granted', 'declined')),
  asked_at BIGINT NOT NULL
);
CREATE INDEX service_requests_of_dataset ON service_requests (dataset_id, state);
-- What columns mean, as a JSON object of texts by column.
ALTER TABLE service_datasets ADD COLUMN meanings TEXT NOT NULL DEFAULT '{}';
