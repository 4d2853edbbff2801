-- Only events that were emitted are in it.
CREATE INDEX CONCURRENTLY "events_root" ON "events"("root_id") WHERE (root_id IS NOT NULL);
