-- The catalogue: hosts, their workspaces, the files of those, what the files contain, and jobs for hosts. All of it is
-- derived from the files on the hosts, except which login belongs to which host.

CREATE TABLE catalogue (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL,
    -- Another number: the catalogue was made anew, and every host publishes again.
    generation bigint NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000000
);

CREATE TABLE host (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name <> '' AND length(name) <= 100),
    -- The login of its agent; an agent without one is an owner of the database.
    role name UNIQUE,
    seen timestamptz,
    -- What its agent says about itself: lag, failures, workspaces that are not read yet.
    status jsonb NOT NULL DEFAULT '{}'
);

CREATE TABLE workspace (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host integer NOT NULL REFERENCES host ON DELETE CASCADE,
    path bytea NOT NULL,
    mode text NOT NULL CHECK (mode IN ('full', 'names')),
    overview jsonb NOT NULL DEFAULT '{}',
    UNIQUE (host, path),
    UNIQUE (id, host)
);

CREATE TABLE file (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host integer NOT NULL,
    workspace bigint NOT NULL,
    name text NOT NULL,
    stamp text NOT NULL,
    -- One item an entry, in their order; lines change with everything that is written above, so they are kept here.
    digests bigint[] NOT NULL DEFAULT '{}',
    lines integer[] NOT NULL DEFAULT '{}',
    UNIQUE (workspace, name),
    UNIQUE (id, host),
    FOREIGN KEY (workspace, host) REFERENCES workspace (id, host) ON DELETE CASCADE
);

CREATE TABLE entry (
    file bigint NOT NULL,
    digest bigint NOT NULL,
    host integer NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    text text NOT NULL,
    date text NOT NULL,
    -- Days since 1970; 0 is no date.
    day integer NOT NULL,
    ref text,
    tags text[] NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (file, digest),
    FOREIGN KEY (file, host) REFERENCES file (id, host) ON DELETE CASCADE
);
-- Without fastupdate a search never reads a list of pending words; an insert costs a little more.
CREATE INDEX entry_words ON entry USING gin (words) WITH (fastupdate = off);
CREATE INDEX entry_day ON entry (day DESC, file, digest);
ALTER TABLE entry ALTER words SET STATISTICS 1000;

CREATE TABLE job (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host integer NOT NULL,
    workspace bigint NOT NULL,
    verb text NOT NULL,
    arguments jsonb NOT NULL DEFAULT '{}',
    -- The login, not the role that it took with SET ROLE: who asks and who approves are two people.
    asked_by name NOT NULL DEFAULT session_user,
    asked timestamptz NOT NULL DEFAULT now(),
    -- Only a revert waits for an approval.
    approved_by name,
    approved timestamptz,
    finished timestamptz,
    outcome jsonb,
    FOREIGN KEY (workspace, host) REFERENCES workspace (id, host) ON DELETE CASCADE
);
CREATE INDEX job_waiting ON job (host, id) WHERE finished IS NULL;
CREATE INDEX job_workspace ON job (workspace);

-- How many jobs wait or failed on each host; who may read it does not see what they ask for.
CREATE VIEW job_count AS
SELECT host, count(*) FILTER (WHERE finished IS NULL AND (verb <> 'revert' OR approved IS NOT NULL)) AS waiting,
       count(*) FILTER (WHERE outcome ? 'error') AS failed
FROM job GROUP BY host;

-- Who may do what. An agent reads and writes the rows of its own host, and nothing else.
--
-- memdeck_agent     one host
-- memdeck_reader    looks at everything but jobs
-- memdeck_operator  a reader who gives jobs to hosts, and asks for a revert
-- memdeck_approver  an operator who approves the revert that another login asked for

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['memdeck_agent', 'memdeck_reader', 'memdeck_operator', 'memdeck_approver'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
    END LOOP;
END $$;
GRANT memdeck_reader TO memdeck_operator;
GRANT memdeck_operator TO memdeck_approver;
GRANT USAGE ON SCHEMA memdeck TO memdeck_agent, memdeck_reader;

CREATE FUNCTION my_host() RETURNS integer LANGUAGE sql STABLE AS
$$ SELECT id FROM memdeck.host WHERE role = current_user $$;
REVOKE ALL ON FUNCTION my_host() FROM public;
GRANT EXECUTE ON FUNCTION my_host() TO memdeck_agent;

GRANT SELECT ON catalogue, host, workspace, file, entry, job_count TO memdeck_reader;
GRANT SELECT, INSERT (host, workspace, verb, arguments) ON job TO memdeck_operator;
GRANT UPDATE (approved_by, approved) ON job TO memdeck_approver;

GRANT SELECT ON catalogue, host, job TO memdeck_agent;
GRANT UPDATE (seen, status) ON host TO memdeck_agent;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspace, file, entry TO memdeck_agent;
GRANT UPDATE (finished, outcome, arguments), DELETE ON job TO memdeck_agent;

ALTER TABLE host ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspace ENABLE ROW LEVEL SECURITY;
ALTER TABLE file ENABLE ROW LEVEL SECURITY;
ALTER TABLE entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE job ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON host TO memdeck_agent USING (role = current_user) WITH CHECK (role = current_user);
CREATE POLICY own ON workspace TO memdeck_agent
    USING (host = (SELECT my_host())) WITH CHECK (host = (SELECT my_host()));
CREATE POLICY own ON file TO memdeck_agent USING (host = (SELECT my_host())) WITH CHECK (host = (SELECT my_host()));
CREATE POLICY own ON entry TO memdeck_agent USING (host = (SELECT my_host())) WITH CHECK (host = (SELECT my_host()));
CREATE POLICY own ON job TO memdeck_agent USING (host = (SELECT my_host())) WITH CHECK (host = (SELECT my_host()));

CREATE POLICY looks ON host FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON workspace FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON file FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON entry FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY gives ON job FOR INSERT TO memdeck_operator WITH CHECK (asked_by = session_user AND approved IS NULL);
CREATE POLICY sees ON job FOR SELECT TO memdeck_operator USING (asked_by = session_user OR verb = 'revert');
CREATE POLICY approves ON job FOR UPDATE TO memdeck_approver
    USING (verb = 'revert' AND asked_by <> session_user AND approved IS NULL) WITH CHECK (approved_by = session_user);
