import type { Database } from '@automation/database'

const endOrphanEventsSql = `
  UPDATE events SET done_at = now()
  WHERE id = ANY ($1::uuid[]) AND done_at IS NULL
    AND NOT EXISTS (SELECT FROM workspaces WHERE workspaces.id = events.workspace_id)`

/**
 * Ends events of workspaces that were removed by SQL. No worker can run them, since the rules and settings of the workspace do not
 * exist any more. While they are unfinished, the service counts as late. The rows stay.
 */
export async function endOrphanEvents(database: Database, ids: string[]): Promise<void> {
  await database.run('end_orphan_events', endOrphanEventsSql, [ids])
}

const endOrphanExecutionsSql = `
  UPDATE executions SET
    status = 'cancelled', error = 'The workspace was removed', finished_at = now(), due_at = NULL, lease = NULL
  WHERE id = ANY ($1::uuid[]) AND due_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM workspaces WHERE workspaces.id = executions.workspace_id)`

/** Ends executions of removed workspaces. */
export async function endOrphanExecutions(database: Database, ids: string[]): Promise<void> {
  await database.run('end_orphan_executions', endOrphanExecutionsSql, [ids])
}
