-- For the cap of a workspace's differences: the one that was computed longest ago is removed.
CREATE INDEX CONCURRENTLY "rule_differences_workspace_id_computed_at_idx" ON "rule_differences"("workspace_id", "computed_at");
