-- The sum of a workspace's versions, which each save of a rule reads: from the index alone.
CREATE INDEX CONCURRENTLY "rule_versions_workspace_id_bytes_idx" ON "rule_versions"("workspace_id", "bytes");
