-- For the number of a creator's workspaces. Those of the command line are not in it.
CREATE INDEX CONCURRENTLY "workspaces_created_by" ON "workspaces"("created_by") WHERE (created_by IS NOT NULL);
