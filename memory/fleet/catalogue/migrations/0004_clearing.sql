-- What jobs left behind is cleared by the agent of their host, and by nobody else.

GRANT DELETE ON procrastinate_jobs TO memdeck_agent;
GRANT DELETE ON due, result TO memdeck_agent;
