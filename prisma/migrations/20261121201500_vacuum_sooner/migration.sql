-- Each event is updated once, and both tables lose each day what is a month old: of a month's rows that is three in a hundred.
-- By its defaults Postgres would tidy up after a week of it, and look again at what is in them after three days.
ALTER TABLE "events" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
  toast.autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE "executions" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
  toast.autovacuum_vacuum_scale_factor = 0.05);
