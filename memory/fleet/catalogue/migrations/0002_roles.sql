-- Who may do what. An agent reads and writes the rows of its own host, and nothing else.
--
-- memdeck_agent     one host
-- memdeck_reader    looks at everything
-- memdeck_operator  a reader who gives jobs to hosts, and asks for a revert
-- memdeck_approver  an operator who approves a revert

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
CREATE FUNCTION my_queue() RETURNS text LANGUAGE sql STABLE AS
$$ SELECT 'host:' || name FROM memdeck.host WHERE role = current_user $$;

REVOKE ALL ON FUNCTION my_host(), my_queue() FROM public;
GRANT EXECUTE ON FUNCTION my_host(), my_queue() TO memdeck_agent;

GRANT SELECT ON catalogue, host, workspace, file, entry, due, result, approval TO memdeck_reader;
GRANT INSERT (workspace, change) ON approval TO memdeck_operator;
GRANT UPDATE (approved_by, approved, job) ON approval TO memdeck_approver;

GRANT SELECT ON catalogue, host, approval TO memdeck_agent;
GRANT UPDATE (seen, skew, published) ON host TO memdeck_agent;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspace, file, entry TO memdeck_agent;
GRANT SELECT, INSERT ON due, result TO memdeck_agent;
GRANT USAGE ON SEQUENCE entry_id TO memdeck_agent;

ALTER TABLE host ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspace ENABLE ROW LEVEL SECURITY;
ALTER TABLE file ENABLE ROW LEVEL SECURITY;
ALTER TABLE entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE due ENABLE ROW LEVEL SECURITY;
ALTER TABLE result ENABLE ROW LEVEL SECURITY;
ALTER TABLE approval ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON host TO memdeck_agent USING (role = current_user) WITH CHECK (role = current_user);
CREATE POLICY own ON workspace TO memdeck_agent
    USING (host = (SELECT my_host())) WITH CHECK (host = (SELECT my_host()));
CREATE POLICY own ON file TO memdeck_agent USING (host = (SELECT my_host())) WITH CHECK (
    host = (SELECT my_host()) AND EXISTS (SELECT 1 FROM workspace w WHERE w.id = workspace AND w.host = file.host)
);
CREATE POLICY own ON entry TO memdeck_agent
    USING (host = (SELECT my_host())) WITH CHECK (host = (SELECT my_host()));
CREATE POLICY own ON due TO memdeck_agent USING (host = (SELECT my_host())) WITH CHECK (host = (SELECT my_host()));
CREATE POLICY own ON result TO memdeck_agent
    USING (host = (SELECT my_host())) WITH CHECK (host = (SELECT my_host()));
CREATE POLICY own ON approval FOR SELECT TO memdeck_agent USING (
    EXISTS (SELECT 1 FROM workspace w WHERE w.id = workspace AND w.host = (SELECT my_host()))
);

CREATE POLICY looks ON host FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON workspace FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON file FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON entry FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON due FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON result FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON approval FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY asks ON approval FOR INSERT TO memdeck_operator WITH CHECK (requested_by = current_user AND approved IS NULL);
CREATE POLICY approves ON approval FOR UPDATE TO memdeck_approver USING (true) WITH CHECK (approved_by = current_user);
