import type { Database } from '@automation/database'

/**
 * End the work of workspaces that somebody removed by SQL. No worker can run it, since rules and settings went with the
 * workspace; and as long as it is open, the service counts as late. The rows stay.
 */
export async function endOrphanEvents(database: Database, ids: string[]): Promise<void> {
  await database.run('end_orphan_events', endEvents, [ids])
}

export async function endOrphanExecutions(database: Database, ids: string[]): Promise<void> {
  await database.run('end_orphan_executions', endExecutions, [ids])
}

const endEvents = `
  UPDATE events SET done_at = now()
  WHERE id = ANY ($1::uuid[]) AND done_at IS NULL
    AND NOT EXISTS (SELECT FROM workspaces WHERE workspaces.id = events.workspace_id)`

const endExecutions = `
  UPDATE executions SET
    status = 'cancelled', error = 'The workspace was removed', finished_at = now(), due_at = NULL, lease = NULL
  WHERE id = ANY ($1::uuid[]) AND due_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM workspaces WHERE workspaces.id = executions.workspace_id)`
