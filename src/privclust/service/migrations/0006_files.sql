-- The digest of every single file of a data set, as a JSON list; empty until it is checked again.
ALTER TABLE service_datasets ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
