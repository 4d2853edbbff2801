CREATE INDEX CONCURRENTLY "audit_entries_workspace_id_actor_id_idx" ON "audit_entries"("workspace_id", "actor", "id");
