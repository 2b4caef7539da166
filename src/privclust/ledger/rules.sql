-- The rules of a ledger, the same in every database; ``scripts.py`` puts them into its words.
-- Entries are only ever added, each continues the chain, and no charge goes beyond the grants: the
-- database refuses it, whatever program asks. An entry is refused if the condition of a rule holds.

CREATE TABLE privclust_entries (
    seq POSITION PRIMARY KEY,
    at TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('create', 'grant', 'charge', 'settle', 'key')),
    request TEXT NOT NULL CHECK (request <> ''),
    actor TEXT NOT NULL,
    dataset TEXT NOT NULL CHECK (dataset <> '' OR kind = 'key'),
    unit TEXT NOT NULL,
    holder TEXT NOT NULL CHECK ((holder = '') = (kind IN ('create', 'key'))),
    pot TEXT NOT NULL CHECK (
        CASE WHEN kind IN ('grant', 'charge') THEN pot IN ('pure', 'zcdp', 'approximate')
        ELSE pot = '' END
    ),
    currency TEXT NOT NULL,
    purpose TEXT NOT NULL,
    digest TEXT NOT NULL CHECK ((digest = '') = (kind NOT IN ('settle', 'key'))),
    flaws TEXT NOT NULL CHECK (flaws = '' OR kind = 'settle'),
    epsilon WHOLE NOT NULL,
    delta WHOLE NOT NULL,
    rho WHOLE NOT NULL,
    granted_epsilon WHOLE NOT NULL,
    granted_delta WHOLE NOT NULL,
    granted_rho WHOLE NOT NULL,
    spent_epsilon WHOLE NOT NULL,
    spent_delta WHOLE NOT NULL,
    spent_rho WHOLE NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (kind, request),
    CHECK (epsilon BETWEEN 0 AND 1000000000000000000),
    CHECK (delta BETWEEN 0 AND 1000000000000000000),
    CHECK (rho BETWEEN 0 AND 1000000000000000000),
    CHECK (granted_epsilon BETWEEN 0 AND 999999999999999999),
    CHECK (granted_delta BETWEEN 0 AND 999999999999999999),
    CHECK (granted_rho BETWEEN 0 AND 999999999999999999),
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

-- rule chain: the entry does not continue the chain
NEW.seq DIFFERS FROM 1 + coalesce((SELECT max(seq) FROM privclust_entries), 0)
    OR NEW.previous DIFFERS FROM coalesce(
        (SELECT hash FROM privclust_entries ORDER BY seq DESC LIMIT 1),
        (SELECT identity FROM privclust_ledger)
    )

-- Also guards against INSERT OR REPLACE, which would remove the older entry without a trigger.
-- rule once: the request or the data set is already there
EXISTS (SELECT 1 FROM privclust_entries WHERE kind = NEW.kind AND request = NEW.request)
    OR (NEW.kind = 'create' AND EXISTS (
        SELECT 1 FROM privclust_entries WHERE kind = 'create' AND dataset = NEW.dataset
    ))

-- rule unit: there is no data set of this name and privacy unit
NEW.kind <> 'create'
    AND NOT (NEW.kind = 'key' AND NEW.dataset = '' AND NEW.unit = '')
    AND NOT EXISTS (
        SELECT 1 FROM privclust_entries
        WHERE kind = 'create' AND dataset = NEW.dataset AND unit = NEW.unit
    )

-- rule settle: there is no charge to settle
NEW.kind = 'settle' AND NOT EXISTS (
    SELECT 1 FROM privclust_entries
    WHERE kind = 'charge' AND request = NEW.request
        AND dataset = NEW.dataset AND holder = NEW.holder
)

-- The pot after a grant is the pot before it and the grant; the first grant finds an empty pot.
-- rule grant: the grant does not add up
NEW.kind = 'grant' AND NOT EXISTS (
    SELECT 1 FROM (
        SELECT seq, granted_epsilon, granted_delta, granted_rho,
            spent_epsilon, spent_delta, spent_rho
        FROM privclust_entries
        WHERE seq = (
            SELECT max(seq) FROM privclust_entries
            WHERE dataset = NEW.dataset AND holder = NEW.holder AND pot = NEW.pot
        )
        UNION ALL SELECT 0, 0, 0, 0, 0, 0, 0
        ORDER BY seq DESC LIMIT 1
    ) AS before
    WHERE NEW.granted_epsilon = before.granted_epsilon + NEW.epsilon
        AND NEW.granted_delta = before.granted_delta + NEW.delta
        AND NEW.granted_rho >= before.granted_rho
        AND (NEW.granted_rho = 0 OR NEW.pot = 'zcdp')
        AND NEW.spent_epsilon = before.spent_epsilon
        AND NEW.spent_delta = before.spent_delta
        AND NEW.spent_rho = before.spent_rho
)

-- The pot after a charge is the pot before it and the charge, and still within the grants.
-- rule charge: the charge is above what is left of the grants
NEW.kind = 'charge' AND NOT EXISTS (
    SELECT 1 FROM privclust_entries AS before
    WHERE before.seq = (
            SELECT max(seq) FROM privclust_entries
            WHERE dataset = NEW.dataset AND holder = NEW.holder AND pot = NEW.pot
        )
        AND NEW.granted_epsilon = before.granted_epsilon
        AND NEW.granted_delta = before.granted_delta
        AND NEW.granted_rho = before.granted_rho
        AND NEW.spent_epsilon = LESSER(before.spent_epsilon + NEW.epsilon, 1000000000000000000)
        AND NEW.spent_delta = LESSER(before.spent_delta + NEW.delta, 1000000000000000000)
        AND NEW.spent_rho = LESSER(before.spent_rho + NEW.rho, 1000000000000000000)
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
)
