CREATE INDEX CONCURRENTLY "backtests_workspace_id_id_idx" ON "backtests"("workspace_id", "id");
