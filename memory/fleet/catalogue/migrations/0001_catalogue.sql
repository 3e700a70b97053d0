-- The catalogue: hosts, their workspaces, the files of those, and what the files hold. All of it is derived from the
-- files on the hosts, except which login belongs to which host.

CREATE TABLE catalogue (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    -- Another number: the catalogue was emptied, and every host publishes anew.
    generation bigint NOT NULL DEFAULT 1
);
INSERT INTO catalogue DEFAULT VALUES;

CREATE TABLE host (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name <> '' AND length(name) <= 100),
    -- The login of its agent; an agent without one is an owner of the database.
    role name UNIQUE,
    seen timestamptz,
    -- By how many seconds its clock is ahead of that of the database.
    skew double precision NOT NULL DEFAULT 0,
    published bigint NOT NULL DEFAULT 0
);

CREATE TABLE workspace (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host integer NOT NULL REFERENCES host ON DELETE CASCADE,
    path bytea NOT NULL,
    -- Device and number of the folder: the same at another path means that it moved.
    place text NOT NULL DEFAULT '',
    mode text NOT NULL CHECK (mode IN ('full', 'names')),
    overview jsonb NOT NULL DEFAULT '{}',
    -- The smallest digests of its entries: workspaces that share most of them hold much of the same.
    sketch bigint[] NOT NULL DEFAULT '{}',
    UNIQUE (host, path)
);

CREATE TABLE file (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host integer NOT NULL,
    workspace bigint NOT NULL REFERENCES workspace ON DELETE CASCADE,
    name text NOT NULL,
    stamp text NOT NULL,
    -- One item an entry, in their order; lines change with whatever is written above, so they are kept here.
    ids bigint[] NOT NULL DEFAULT '{}',
    digests bigint[] NOT NULL DEFAULT '{}',
    lines integer[] NOT NULL DEFAULT '{}',
    UNIQUE (workspace, name)
);

CREATE SEQUENCE entry_id;

CREATE TABLE entry (
    id bigint PRIMARY KEY,
    host integer NOT NULL,
    file bigint NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    text text NOT NULL,
    date text NOT NULL,
    -- Days since 1970; 0 is no date.
    day integer NOT NULL,
    ref text,
    tags text[] NOT NULL,
    words tsvector NOT NULL
);
CREATE INDEX entry_words ON entry USING gin (words);
CREATE INDEX entry_day ON entry (day DESC, id DESC);
ALTER TABLE entry ALTER words SET STATISTICS 1000;

CREATE FUNCTION forget_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM entry WHERE id = ANY (OLD.ids) AND host = OLD.host;
    RETURN OLD;
END $$;
CREATE TRIGGER forget_entries AFTER DELETE ON file FOR EACH ROW EXECUTE FUNCTION forget_entries();

-- What jobs came to. A due time is done once, whichever job did it.

CREATE TABLE due (
    workspace bigint NOT NULL REFERENCES workspace ON DELETE CASCADE,
    due timestamptz NOT NULL,
    host integer NOT NULL,
    job bigint NOT NULL,
    PRIMARY KEY (workspace, due)
);

CREATE TABLE result (
    job bigint PRIMARY KEY,
    host integer NOT NULL,
    verb text NOT NULL,
    finished timestamptz NOT NULL DEFAULT now(),
    outcome jsonb NOT NULL
);

CREATE TABLE approval (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace bigint NOT NULL REFERENCES workspace ON DELETE CASCADE,
    change text NOT NULL,
    requested_by name NOT NULL DEFAULT current_user,
    requested timestamptz NOT NULL DEFAULT now(),
    approved_by name,
    approved timestamptz,
    job bigint
);
