-- The tables of the service, beside those of the ledger. Times are seconds since 1970 in UTC.
CREATE TABLE service_users (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('steward', 'analyst', 'auditor')),
  password TEXT NOT NULL,
  must_change INTEGER NOT NULL,
  active INTEGER NOT NULL,
  created BIGINT NOT NULL
);
-- A session is known by the digest of its cookie, a token by the digest of its text.
CREATE TABLE service_sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES service_users (id),
  form TEXT NOT NULL,
  expires BIGINT NOT NULL
);
CREATE TABLE service_tokens (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL REFERENCES service_users (id),
  name TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('read', 'run', 'steward')),
  expires BIGINT NOT NULL,
  revoked INTEGER NOT NULL,
  created BIGINT NOT NULL
);
CREATE TABLE service_datasets (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  facts TEXT NOT NULL,
  unit TEXT NOT NULL,
  most_rows BIGINT NOT NULL,
  digest TEXT NOT NULL,
  frozen TEXT NOT NULL,
  note TEXT NOT NULL,
  created BIGINT NOT NULL
);
CREATE TABLE service_access (
  dataset_id TEXT NOT NULL REFERENCES service_datasets (id),
  user_id TEXT NOT NULL REFERENCES service_users (id),
  PRIMARY KEY (dataset_id, user_id)
);
CREATE TABLE service_jobs (
  id TEXT PRIMARY KEY,
  dataset_id TEXT NOT NULL REFERENCES service_datasets (id),
  user_id TEXT NOT NULL REFERENCES service_users (id),
  question TEXT NOT NULL,
  asked TEXT NOT NULL,
  receipt TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'interrupted')),
  first_tick BIGINT NOT NULL,
  asked_at BIGINT NOT NULL,
  finished_at BIGINT,
  release_id TEXT,
  details TEXT NOT NULL,
  worker TEXT NOT NULL,
  CHECK (state <> 'done' OR release_id IS NOT NULL)
);
-- One job per data set at a time, whoever runs it.
CREATE UNIQUE INDEX service_one_at_a_time ON service_jobs (dataset_id) WHERE state = 'running';
CREATE INDEX service_jobs_of_user ON service_jobs (user_id, asked_at);
CREATE INDEX service_jobs_of_question ON service_jobs (question);
CREATE TABLE service_releases (
  id TEXT PRIMARY KEY,
  dataset_id TEXT NOT NULL REFERENCES service_datasets (id),
  job_id TEXT NOT NULL UNIQUE REFERENCES service_jobs (id),
  question TEXT NOT NULL,
  digest TEXT NOT NULL,
  file BLOB NOT NULL,
  report TEXT NOT NULL,
  card TEXT NOT NULL,
  visible_at BIGINT NOT NULL
);
CREATE INDEX service_releases_of_question ON service_releases (question);
