-- Files that were checked in anew are another version of the data; a release is of one of them.
ALTER TABLE service_datasets ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE service_releases ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
