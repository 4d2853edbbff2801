import { Prisma } from '@automation/database'
import { keepingExecutionsSql } from '../removal/keeping-executions.js'

/** A table, and the column that says to which row of the first table of its history a row belongs: it goes with that one, or stays with it. */
export interface HistoryTable {
  name: string
  owner: string
}

/** What an exchange leaves out: what ended before that moment (epoch ms), and its leaves. */
export interface Removed {
  endedBefore: number
  from: string
  to: string
}

/** Tables whose rows belong together: their leaves have the same bounds, and are exchanged at once. */
export interface History {
  /** That of the first table. */
  name: string
  tables: readonly HistoryTable[]
  /** Whether keys refer to its rows, and workspaces may keep them longer. */
  isKeyed: boolean
  /** Items of a WITH list; the last one is `removed (id)`: the rows of the first table that go. */
  removedSql(removed: Removed, isInScope: (table: HistoryTable) => Prisma.Sql): Prisma.Sql
}

const events = { name: 'events', owner: 'id' }
export const executions = { name: 'executions', owner: 'event_id' }
const tasks = { name: 'tasks', owner: 'id' }

/**
 * What stays is what removal/remove-history.ts leaves, and more, since nobody holds the lock of a workspace: all rows of those with days of their own that are
 * longer, and the events of batches that are not watched. They go one by one.
 */
export const eventHistory: History = {
  name: 'events',
  tables: [events, executions],
  isKeyed: true,
  removedSql: ({ endedBefore, from, to }, isInScope) => Prisma.sql`
    ages AS (
      SELECT id AS workspace_id, to_timestamp(${endedBefore}::float8 / 1000) AS ended_before FROM workspaces
      WHERE id NOT IN (SELECT workspace_id FROM history.kept_workspaces WHERE name = 'events')
    ),
    kept AS (
      ${keepingExecutionsSql(isInScope(executions), Prisma.sql`batches.id < ${from}::uuid OR batches.id >= ${to}::uuid`)}
    ),
    removed AS MATERIALIZED (
      SELECT events.id FROM events JOIN ages ON ages.workspace_id = events.workspace_id
      WHERE ${isInScope(events)} AND events.done_at < ages.ended_before
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
