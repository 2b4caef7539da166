-- The ledger in SQLite; the rules of its entries are in rules.sql.

CREATE TABLE privclust_ledger (
    identity TEXT NOT NULL,
    created TEXT NOT NULL
);

-- entries

CREATE TRIGGER privclust_ledger_once BEFORE INSERT ON privclust_ledger
WHEN EXISTS (SELECT 1 FROM privclust_ledger)
BEGIN SELECT RAISE(ABORT, 'a ledger has one identity'); END;

CREATE TRIGGER privclust_ledger_update BEFORE UPDATE ON privclust_ledger
BEGIN SELECT RAISE(ABORT, 'the identity of a ledger stays'); END;

CREATE TRIGGER privclust_ledger_delete BEFORE DELETE ON privclust_ledger
BEGIN SELECT RAISE(ABORT, 'the identity of a ledger stays'); END;

CREATE TRIGGER privclust_entries_update BEFORE UPDATE ON privclust_entries
BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;

CREATE TRIGGER privclust_entries_delete BEFORE DELETE ON privclust_entries
BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
