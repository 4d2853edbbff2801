CREATE INDEX CONCURRENTLY "rule_drafts_workspace_id_idx" ON "rule_drafts"("workspace_id");
