import { type Database, firstIdOf, highestId, timeOf } from '@automation/database'
import { type AddressColumns, type Addressee, addresseeOf } from '../addressee.js'
import { isSuspendedSql } from '../parking/is-suspended.js'
import { inTurns } from '../turns/in-turns.js'
import { type BacklogPage, BacklogWalk, maxNew, pageSize } from './backlog-walk.js'
import { countReads, readsOfEvents, readsOfExecutions } from './count-reads.js'
import { markEvents, markExecutions } from './oldest-due.js'

/** Younger events are skipped: their jobs are most likely being added. */
const minimumAgeSeconds = 2

/** A row that a worker has to claim. */
export interface Unfinished {
  id: string
  workspaceId: string
  /** It is to be parked. */
  isSuspended: boolean
  createdBy: string | null
}

export interface UndoneEvent extends Unfinished {
  addressee: Addressee | null
  jobId: string
}

export interface UnclaimedExecution extends Unfinished {
  eventId: string
  /** Epoch ms */
  dueAt: number
}

const nothing = { rows: [], read: 0 }

// A page is one value, so that Postgres reads and counts all of its rows before it returns the page.
const page = `coalesce(found.rows, '[]') AS rows`

const undoneColumns = `
  id, workspace_id AS "workspaceId", addressee_kind AS "addresseeKind", addressee_id AS "addresseeId", coalesce(job_id, id) AS "jobId",
  EXISTS (SELECT FROM workspaces WHERE workspaces.id = events.workspace_id AND ${isSuspendedSql}) AS "isSuspended",
  (SELECT created_by FROM workspaces WHERE workspaces.id = events.workspace_id) AS "createdBy"`
/**
 * The sum hides the column from the statistics: where all events that they know are young, they say that hardly any are to be found, and Postgres would read
 * and sort all events of a backlog for each page.
 */
const isUndone = `done_at IS NULL AND parked IS NULL AND accepted_at + make_interval(secs => ${minimumAgeSeconds}) < now()`

const undoneEvents = countReads(
  readsOfEvents,
  page,
  `
    SELECT json_agg(page) AS rows FROM (
      SELECT ${undoneColumns} FROM events
      WHERE before.read >= 0 AND ${isUndone} AND id > $1::uuid AND id < $2::uuid
      ORDER BY id LIMIT ${pageSize}
    ) AS page`,
)
/** $1 the lowest id */
const newUndone = `
  WITH ${inTurns({
    table: 'events',
    ...{ key: 'id', order: 'id', from: '$1::uuid', to: `'${highestId}'` },
    where: isUndone,
    whereOfWorkspace: isUndone.replace('done_at IS NULL', `coalesce(done_at, 'infinity') = 'infinity'`),
    direction: 'DESC',
    limit: `${maxNew}`,
  })}
  SELECT ${undoneColumns} FROM events WHERE id = ANY (ARRAY(SELECT id FROM due_rows)) AND id >= $1::uuid AND done_at IS NULL`

type UndoneRow = Omit<UndoneEvent, 'addressee'> & AddressColumns

function undoneEventOf({ addresseeKind, addresseeId, ...event }: UndoneRow): UndoneEvent {
  return { ...event, addressee: addresseeOf({ addresseeKind, addresseeId }) }
}

/** Creates a walk through the events of all workspaces that are not done. */
export function walkEvents(database: Database): BacklogWalk<UndoneEvent> {
  return new BacklogWalk(
    markEvents(database),
    async ({ id }, before) => {
      const bounds = [id, firstIdOf(before)]
      const [page] = await database.run<BacklogPage<UndoneRow>>('find_undone', undoneEvents, bounds)
      return page ? { rows: page.rows.map(undoneEventOf), read: page.read } : nothing
    },
    async (from) =>
      (await database.run<UndoneRow>('find_new_undone', newUndone, [firstIdOf(from)])).map(undoneEventOf),
    ({ id }) => ({ time: timeOf(id), id }),
  )
}

const dueColumns = `
  id, event_id AS "eventId", workspace_id AS "workspaceId", (extract(epoch FROM due_at) * 1000)::float8 AS "dueAt",
  EXISTS (SELECT FROM workspaces WHERE workspaces.id = executions.workspace_id AND ${isSuspendedSql}) AS "isSuspended",
  (SELECT created_by FROM workspaces WHERE workspaces.id = executions.workspace_id) AS "createdBy"`

const dueExecutions = countReads(
  readsOfExecutions,
  page,
  `
    SELECT json_agg(page) AS rows FROM (
      SELECT ${dueColumns} FROM executions
      WHERE before.read >= 0 AND due_at <= now() AND parked IS NULL
        AND (due_at, id) > (to_timestamp($1::float8 / 1000), $2::uuid) AND due_at < to_timestamp($3::float8 / 1000)
      ORDER BY due_at, id LIMIT ${pageSize}
    ) AS page`,
)
const waits = `status IN ('waiting', 'retrying') AND parked IS NULL`
/** Those that have waited in turns, and the newest of all: a worker that ends leaves no more than it had places for. $1 epoch ms */
const newDue = `
  WITH ${inTurns({
    table: 'executions',
    ...{ key: 'id', order: 'due_at', from: 'to_timestamp($1::float8 / 1000)', to: 'now()' },
    where: `due_at IS NOT NULL AND ${waits}`,
    // Those of all workspaces that are due have an index, too.
    whereOfWorkspace: waits,
    direction: 'DESC',
    limit: `${maxNew}`,
  })},
  newest_rows AS (
    SELECT id FROM executions WHERE due_at <= now() AND parked IS NULL AND due_at >= to_timestamp($1::float8 / 1000) ORDER BY due_at DESC LIMIT ${maxNew}
  )
  SELECT ${dueColumns} FROM executions
  WHERE id = ANY (ARRAY(SELECT id FROM due_rows UNION SELECT id FROM newest_rows)) AND due_at <= now()`

/** Creates a walk through the executions of all workspaces that are due. */
export function walkExecutions(database: Database): BacklogWalk<UnclaimedExecution> {
  return new BacklogWalk(
    markExecutions(database),
    async ({ time, id }, before) => {
      const bounds = [time, id, before]
      const [page] = await database.run<BacklogPage<UnclaimedExecution>>('find_due', dueExecutions, bounds)
      return page ?? nothing
    },
    (from) => database.run<UnclaimedExecution>('find_new_due', newDue, [from]),
    ({ dueAt, id }) => ({ time: dueAt, id }),
  )
}
