-- The tables of the job engine: an agent sees the jobs of its own host, an operator adds jobs.

GRANT SELECT, INSERT, UPDATE ON procrastinate_jobs TO memdeck_agent;
GRANT SELECT, INSERT ON procrastinate_events TO memdeck_agent;
GRANT SELECT, INSERT, UPDATE, DELETE ON procrastinate_periodic_defers TO memdeck_agent;
GRANT SELECT, INSERT, UPDATE, DELETE ON procrastinate_workers TO memdeck_agent;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA memdeck TO memdeck_agent;

GRANT SELECT ON procrastinate_jobs, procrastinate_events, procrastinate_workers TO memdeck_reader;
GRANT INSERT ON procrastinate_jobs, procrastinate_events TO memdeck_operator;
GRANT USAGE ON SEQUENCE procrastinate_jobs_id_seq, procrastinate_events_id_seq TO memdeck_operator;

ALTER TABLE procrastinate_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE procrastinate_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE procrastinate_periodic_defers ENABLE ROW LEVEL SECURITY;
ALTER TABLE procrastinate_workers ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON procrastinate_jobs TO memdeck_agent
    USING (queue_name = (SELECT my_queue())) WITH CHECK (queue_name = (SELECT my_queue()));
CREATE POLICY own ON procrastinate_events TO memdeck_agent
    USING (EXISTS (SELECT 1 FROM procrastinate_jobs j WHERE j.id = job_id))
    WITH CHECK (EXISTS (SELECT 1 FROM procrastinate_jobs j WHERE j.id = job_id));
CREATE POLICY own ON procrastinate_periodic_defers TO memdeck_agent
    USING (periodic_id = (SELECT my_queue())) WITH CHECK (periodic_id = (SELECT my_queue()));

-- The engine has no owner for a worker: the login that registered it is.
ALTER TABLE procrastinate_workers ADD COLUMN role name NOT NULL DEFAULT current_user;
CREATE POLICY own ON procrastinate_workers TO memdeck_agent USING (role = current_user) WITH CHECK (role = current_user);

CREATE POLICY looks ON procrastinate_jobs FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON procrastinate_events FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY looks ON procrastinate_workers FOR SELECT TO memdeck_reader USING (true);
CREATE POLICY gives ON procrastinate_jobs FOR INSERT TO memdeck_operator WITH CHECK (queue_name LIKE 'host:%');
CREATE POLICY gives ON procrastinate_events FOR INSERT TO memdeck_operator WITH CHECK (true);
