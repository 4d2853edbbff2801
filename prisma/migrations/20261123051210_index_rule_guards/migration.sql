CREATE INDEX CONCURRENTLY "rule_guards_workspace_id_idx" ON "rule_guards"("workspace_id");
