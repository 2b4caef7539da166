-- The ledger in PostgreSQL: the rules of its entries are in rules.sql.

CREATE TABLE privclust_ledger (
    identity text NOT NULL,
    created text NOT NULL,
    version integer NOT NULL,
    only_row boolean NOT NULL DEFAULT true UNIQUE CHECK (only_row)
);

-- entries

CREATE FUNCTION privclust_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'entries and the identity of a ledger are never changed or removed';
END $$;

CREATE TRIGGER privclust_entries_insert BEFORE INSERT ON privclust_entries
    FOR EACH ROW EXECUTE FUNCTION privclust_check();
CREATE TRIGGER privclust_entries_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON privclust_entries
    FOR EACH STATEMENT EXECUTE FUNCTION privclust_refuse();
CREATE TRIGGER privclust_ledger_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON privclust_ledger
    FOR EACH STATEMENT EXECUTE FUNCTION privclust_refuse();
