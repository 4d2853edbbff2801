import { clockSkewMs, firstTaskIdOf, idNear, Prisma, type WorkspaceDatabase } from '@automation/database'
import type { Narrowing } from '@automation/ledger'
import { joinConditions } from './join-conditions.js'
import { type ScannedPage, scanPage } from './scan-page.js'

export interface TaskFilter {
  ids?: readonly string[]
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

type TaskRow = Prisma.TaskGetPayload<object>

export interface ListedTaskRow extends TaskRow {
  /** Of its execution; null once that was removed. */
  event: { id: string; type: string } | null
}

const columnOf: Record<keyof TaskRow, string> = {
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
const stored = Prisma.raw(
  Object.entries(columnOf)
    .map(([name, column]) => `tasks.${column} AS "${name}"`)
    .join(', '),
)
const columns = Prisma.sql`
  ${stored},
  (SELECT json_build_object('id', executions.event_id, 'type', executions.event_type) FROM executions
   WHERE executions.id = tasks.execution_id AND executions.workspace_id = tasks.workspace_id) AS event`

/** An index leads to the tasks of a time, a rule or an execution. The other filters have none, since each would cost every new task a write. */
export function narrowTasks(
  workspaceId: string,
  { ids, ruleId, executionId, assigneeId, priority, dueBefore, from, to }: TaskFilter,
): Narrowing {
  const range: [Prisma.Sql, ...Prisma.Sql[]] = [Prisma.sql`tasks.workspace_id = ${workspaceId}::uuid`]
  const rest: Prisma.Sql[] = []
  if (ids !== undefined) range.push(Prisma.sql`tasks.id = ANY (${ids}::uuid[])`)
  if (ruleId !== undefined) range.push(Prisma.sql`tasks.rule_id = ${ruleId}::uuid`)
  if (executionId !== undefined) {
    range.push(Prisma.sql`tasks.id >= ${firstTaskIdOf([executionId])}::uuid`)
    range.push(Prisma.sql`tasks.execution_id = ${executionId}::uuid`)
  }
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
  return { range: joinConditions(range), rest: joinConditions(rest) }
}

/** Lists tasks, newest first. A page reads a bounded number of tasks, and may be short. */
export function listTasks(
  database: WorkspaceDatabase,
  narrowing: Narrowing,
  page: { before: string | undefined; limit: number },
): Promise<ScannedPage<ListedTaskRow>> {
  return scanPage<ListedTaskRow>(database, Prisma.sql`tasks`, columns, narrowing, page)
}
