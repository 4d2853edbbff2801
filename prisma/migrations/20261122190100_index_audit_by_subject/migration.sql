CREATE INDEX CONCURRENTLY "audit_entries_workspace_id_subject_id_idx" ON "audit_entries"("workspace_id", "subject", "id");
