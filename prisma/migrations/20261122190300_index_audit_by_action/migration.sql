CREATE INDEX CONCURRENTLY "audit_entries_workspace_id_action_id_idx" ON "audit_entries"("workspace_id", "action", "id");
