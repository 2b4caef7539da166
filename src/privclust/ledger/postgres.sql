-- The ledger in PostgreSQL: the same rules as in sqlite.sql, in the words of this server.

CREATE TABLE privclust_ledger (
    identity text NOT NULL,
    created text NOT NULL,
    version integer NOT NULL,
    only_row boolean NOT NULL DEFAULT true UNIQUE CHECK (only_row)
);

CREATE TABLE privclust_entries (
    seq bigint PRIMARY KEY,
    at text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('create', 'grant', 'charge', 'settle', 'key')),
    request text NOT NULL CHECK (request <> ''),
    actor text NOT NULL,
    dataset text NOT NULL CHECK (dataset <> '' OR kind = 'key'),
    unit text NOT NULL,
    holder text NOT NULL CHECK ((holder = '') = (kind IN ('create', 'key'))),
    pot text NOT NULL CHECK (
        CASE WHEN kind IN ('grant', 'charge') THEN pot IN ('pure', 'zcdp', 'approximate')
        ELSE pot = '' END
    ),
    currency text NOT NULL,
    purpose text NOT NULL,
    digest text NOT NULL CHECK ((digest = '') = (kind NOT IN ('settle', 'key'))),
    flaws text NOT NULL CHECK (flaws = '' OR kind = 'settle'),
    epsilon bigint NOT NULL CHECK (epsilon BETWEEN 0 AND 1000000000000000000),
    delta bigint NOT NULL CHECK (delta BETWEEN 0 AND 1000000000000000000),
    rho bigint NOT NULL CHECK (rho BETWEEN 0 AND 1000000000000000000),
    granted_epsilon bigint NOT NULL CHECK (granted_epsilon BETWEEN 0 AND 999999999999999999),
    granted_delta bigint NOT NULL CHECK (granted_delta BETWEEN 0 AND 999999999999999999),
    granted_rho bigint NOT NULL CHECK (granted_rho BETWEEN 0 AND 999999999999999999),
    spent_epsilon bigint NOT NULL,
    spent_delta bigint NOT NULL,
    spent_rho bigint NOT NULL,
    previous text NOT NULL,
    hash text NOT NULL,
    UNIQUE (kind, request),
    CHECK (CASE kind
        WHEN 'grant' THEN epsilon > 0 AND rho = 0 AND (pot = 'pure') = (delta = 0)
            AND currency = pot
        WHEN 'charge' THEN epsilon > 0 AND CASE currency
            WHEN 'pure' THEN delta = 0 AND rho > 0
            WHEN 'zcdp' THEN delta > 0 AND rho > 0 AND pot <> 'pure'
            WHEN 'approximate' THEN delta > 0 AND rho = 0 AND pot = 'approximate'
            ELSE false
        END
        ELSE epsilon = 0 AND delta = 0 AND rho = 0 AND currency = ''
    END)
);

CREATE UNIQUE INDEX privclust_datasets ON privclust_entries (dataset) WHERE kind = 'create';
CREATE INDEX privclust_pots ON privclust_entries (dataset, holder, pot, seq);

CREATE FUNCTION privclust_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'entries and the identity of a ledger are never changed or removed';
END $$;

-- Two writers that both saw the same last entry collide on seq, so one of them fails.
CREATE FUNCTION privclust_check() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    newest privclust_entries;
    before privclust_entries;
BEGIN
    SELECT * INTO newest FROM privclust_entries ORDER BY seq DESC LIMIT 1;
    IF NEW.seq <> coalesce(newest.seq, 0) + 1
        OR NEW.previous <> coalesce(newest.hash, (SELECT identity FROM privclust_ledger)) THEN
        RAISE EXCEPTION 'the entry does not continue the chain';
    END IF;
    IF NEW.kind <> 'create'
        AND NOT (NEW.kind = 'key' AND NEW.dataset = '' AND NEW.unit = '')
        AND NOT EXISTS (
            SELECT 1 FROM privclust_entries
            WHERE kind = 'create' AND dataset = NEW.dataset AND unit = NEW.unit
        ) THEN
        RAISE EXCEPTION 'there is no data set of this name and privacy unit';
    END IF;
    IF NEW.kind = 'settle' AND NOT EXISTS (
        SELECT 1 FROM privclust_entries
        WHERE kind = 'charge' AND request = NEW.request
            AND dataset = NEW.dataset AND holder = NEW.holder
    ) THEN
        RAISE EXCEPTION 'there is no charge to settle';
    END IF;

    SELECT * INTO before FROM privclust_entries
    WHERE dataset = NEW.dataset AND holder = NEW.holder AND pot = NEW.pot
    ORDER BY seq DESC LIMIT 1;

    IF NEW.kind = 'grant' AND NOT (
        NEW.granted_epsilon = coalesce(before.granted_epsilon, 0) + NEW.epsilon
        AND NEW.granted_delta = coalesce(before.granted_delta, 0) + NEW.delta
        AND NEW.granted_rho >= coalesce(before.granted_rho, 0)
        AND (NEW.granted_rho = 0 OR NEW.pot = 'zcdp')
        AND NEW.spent_epsilon = coalesce(before.spent_epsilon, 0)
        AND NEW.spent_delta = coalesce(before.spent_delta, 0)
        AND NEW.spent_rho = coalesce(before.spent_rho, 0)
    ) THEN
        RAISE EXCEPTION 'the grant does not add up';
    END IF;

    IF NEW.kind = 'charge' AND (before.seq IS NULL OR NOT (
        NEW.granted_epsilon = before.granted_epsilon
        AND NEW.granted_delta = before.granted_delta
        AND NEW.granted_rho = before.granted_rho
        AND NEW.spent_epsilon = least(before.spent_epsilon + NEW.epsilon, 1000000000000000000)
        AND NEW.spent_delta = least(before.spent_delta + NEW.delta, 1000000000000000000)
        AND NEW.spent_rho = least(before.spent_rho + NEW.rho, 1000000000000000000)
        AND CASE NEW.pot WHEN 'approximate' THEN
            NEW.spent_epsilon <= NEW.granted_epsilon AND NEW.spent_delta <= NEW.granted_delta
        ELSE
            (NEW.spent_delta = 0 AND NEW.spent_epsilon <= NEW.granted_epsilon)
            OR NEW.spent_rho <= NEW.granted_rho
            OR (
                before.spent_epsilon = 0
                AND NEW.epsilon <= NEW.granted_epsilon
                AND NEW.delta <= NEW.granted_delta
            )
        END
    )) THEN
        RAISE EXCEPTION 'the charge is above what is left of the grants';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER privclust_entries_insert BEFORE INSERT ON privclust_entries
    FOR EACH ROW EXECUTE FUNCTION privclust_check();
CREATE TRIGGER privclust_entries_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON privclust_entries
    FOR EACH STATEMENT EXECUTE FUNCTION privclust_refuse();
CREATE TRIGGER privclust_ledger_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON privclust_ledger
    FOR EACH STATEMENT EXECUTE FUNCTION privclust_refuse();
