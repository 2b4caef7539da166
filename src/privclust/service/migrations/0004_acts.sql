-- Who did what, when and from where.
CREATE TABLE service_acts (
  number BIGINT PRIMARY KEY,
  at BIGINT NOT NULL,
  who TEXT NOT NULL,
  address TEXT NOT NULL,
  act TEXT NOT NULL,
  what TEXT NOT NULL
);
