import { clockSkewMs, idNear, Prisma, type WorkspaceDatabase } from '@automation/database'
import { joinConditions } from './join-conditions.js'
import { type ScannedPage, scanPage } from './scan-page.js'

export interface TaskFilter {
  ruleId?: string
  executionId?: string
  assigneeId?: string
  priority?: string
  /** Tasks without a due date are not due. */
  dueBefore?: Date
  /** When it was created: from then on. */
  from?: Date
  /** When it was created: before then. */
  to?: Date
}

export type ListedTaskRow = Prisma.TaskGetPayload<object>

const columnOf: Record<keyof ListedTaskRow, string> = {
  id: 'id',
  workspaceId: 'workspace_id',
  executionId: 'execution_id',
  actionIndex: 'action_index',
  ruleId: 'rule_id',
  title: 'title',
  description: 'description',
  assigneeId: 'assignee_id',
  priority: 'priority',
  dueAt: 'due_at',
  createdAt: 'created_at',
}
const columns = Prisma.raw(
  Object.entries(columnOf)
    .map(([name, column]) => `${column} AS "${name}"`)
    .join(', '),
)

/**
 * Lists tasks, newest first. An index leads to those of a time, a rule or an execution. The other filters have none, since each would cost
 * every new task a write: a page reads a bounded number of tasks, and may be short.
 */
export function listTasks(
  database: WorkspaceDatabase,
  workspaceId: string,
  { ruleId, executionId, assigneeId, priority, dueBefore, from, to }: TaskFilter,
  page: { before: string | undefined; limit: number },
): Promise<ScannedPage<ListedTaskRow>> {
  const range: [Prisma.Sql, ...Prisma.Sql[]] = [Prisma.sql`tasks.workspace_id = ${workspaceId}::uuid`]
  const rest: Prisma.Sql[] = []
  if (ruleId !== undefined) range.push(Prisma.sql`tasks.rule_id = ${ruleId}::uuid`)
  if (executionId !== undefined) range.push(Prisma.sql`tasks.execution_id = ${executionId}::uuid`)
  if (from !== undefined) {
    range.push(Prisma.sql`tasks.id >= ${idNear(from, -clockSkewMs)}::uuid`)
    range.push(Prisma.sql`tasks.created_at >= ${from}`)
  }
  if (to !== undefined) {
    range.push(Prisma.sql`tasks.id < ${idNear(to, clockSkewMs)}::uuid`)
    range.push(Prisma.sql`tasks.created_at < ${to}`)
  }
  if (assigneeId !== undefined) rest.push(Prisma.sql`tasks.assignee_id = ${assigneeId}`)
  if (priority !== undefined) rest.push(Prisma.sql`tasks.priority = ${priority}`)
  if (dueBefore !== undefined) rest.push(Prisma.sql`tasks.due_at < ${dueBefore}`)
  const narrowing = { range: joinConditions(range), rest: joinConditions(rest) }
  return scanPage<ListedTaskRow>(database, Prisma.sql`tasks`, columns, narrowing, page)
}
