import { Prisma } from '@automation/database'
import { keepingExecutionsSql, oldBeforeSql } from '../removal/keeping-executions.js'

/** A table, and the column that says to which row of the first table of its history a row belongs: it goes with that one, or stays with it. */
export interface HistoryTable {
  name: string
  owner: string
}

/** What an exchange leaves out: what was old at that moment (epoch ms). */
export interface Removed {
  now: number
  defaultDays: number
}

/** Tables whose rows belong together: their leaves have the same bounds, and are exchanged at once. */
export interface History {
  /** That of the first table. */
  name: string
  tables: readonly HistoryTable[]
  /** Whether keys refer to its rows. */
  isKeyed: boolean
  /** Items of a WITH list; the last one is `removed (id)`: the rows of the first table that go. */
  removedSql(removed: Removed, isInScope: (table: HistoryTable) => Prisma.Sql): Prisma.Sql
}

const events = { name: 'events', owner: 'id' }
const executions = { name: 'executions', owner: 'event_id' }
const tasks = { name: 'tasks', owner: 'id' }

/** What stays is what removal/remove-history.ts leaves. */
export const eventHistory: History = {
  name: 'events',
  tables: [events, executions],
  isKeyed: true,
  removedSql: ({ now, defaultDays }, isInScope) => Prisma.sql`
    ages AS (
      SELECT id AS workspace_id, to_timestamp(ms / 1000.0) AS ended_before,
             (lpad(to_hex(ms), 12, '0') || '70008000000000000000')::uuid AS before
      FROM workspaces CROSS JOIN LATERAL (SELECT ${oldBeforeSql(now, defaultDays)} AS ms) AS age
    ),
    kept AS (${keepingExecutionsSql(isInScope(executions))}),
    removed AS MATERIALIZED (
      SELECT events.id FROM events JOIN ages ON ages.workspace_id = events.workspace_id
      WHERE ${isInScope(events)} AND events.done_at < ages.ended_before AND events.id < ages.before
        AND events.id NOT IN (SELECT event_id FROM kept)
    )`,
}

/** A task stays, whatever its age, while its execution is stored: the reconciliation finds the task of every execution. */
export const taskHistory: History = {
  name: 'tasks',
  tables: [tasks],
  isKeyed: false,
  removedSql: (_removed, isInScope) => Prisma.sql`
    removed AS MATERIALIZED (
      SELECT tasks.id FROM tasks
      WHERE ${isInScope(tasks)} AND NOT EXISTS (SELECT FROM executions WHERE executions.id = tasks.execution_id)
    )`,
}

export const histories = { events: eventHistory, tasks: taskHistory }
