/** What a next version could bring: a table, columns of a table that everybody writes, a foreign key, and an index of a table that grows. */
export const drillMigrations: Record<string, string> = {
  '20991231000000_drill': `
    CREATE TABLE drill_notes (
      id UUID PRIMARY KEY,
      workspace_id UUID NOT NULL,
      text TEXT NOT NULL
    );
    CREATE INDEX drill_notes_workspace_id ON drill_notes (workspace_id);`,
  '20991231000001_drill_alter_events': `
    SET lock_timeout = '1s';
    ALTER TABLE events ADD COLUMN drill_note UUID, ADD COLUMN drill_count INTEGER NOT NULL DEFAULT 0;`,
  '20991231000002_drill_alter_drill_notes': `
    SET lock_timeout = '1s';
    ALTER TABLE drill_notes ADD CONSTRAINT drill_notes_workspace
      FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE NOT VALID;`,
  '20991231000003_drill_validate_drill_notes': `
    ALTER TABLE drill_notes VALIDATE CONSTRAINT drill_notes_workspace;`,
  '20991231000004_drill_receipts': `
CREATE INDEX CONCURRENTLY drill_receipts ON webhook_receipts (workspace_id, received_at);`,
}
