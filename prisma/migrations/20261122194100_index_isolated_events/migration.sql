-- Whether a workspace has isolated events. It is almost always empty: no event that runs well is ever in it.
CREATE INDEX CONCURRENTLY "events_isolated" ON "events"("workspace_id") WHERE (done_at IS NULL AND crashes > 0);
