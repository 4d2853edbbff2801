import { type Database, firstIdOf, timeOf } from '@automation/database'
import { type AddressColumns, type Addressee, addresseeOf } from '../addressee.js'
import { type BacklogPage, BacklogWalk, maxNewest, pageSize } from './backlog-walk.js'
import { countReads, readsOfEvents, readsOfExecutions } from './count-reads.js'
import { markEvents, markExecutions } from './oldest-due.js'

/** Younger events are skipped: their jobs are most likely being added. */
const minimumAgeSeconds = 2

/** A row that a worker has to claim. */
export interface Unfinished {
  id: string
  workspaceId: string
  /** false where the workspace was removed */
  hasWorkspace: boolean
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

/** Selects events that are not done, in the order of their ids. */
function selectUndone(bounds: string, direction: 'ASC' | 'DESC', limit: number): string {
  return `
    SELECT json_agg(page) AS rows FROM (
      SELECT id, workspace_id AS "workspaceId", rule_id AS "ruleId", is_delivery AS "isDelivery",
             coalesce(job_id, id) AS "jobId",
             EXISTS (SELECT FROM workspaces WHERE workspaces.id = events.workspace_id) AS "hasWorkspace",
             (SELECT created_by FROM workspaces WHERE workspaces.id = events.workspace_id) AS "createdBy"
      FROM events
      WHERE before.read >= 0 AND done_at IS NULL AND ${bounds}
        AND accepted_at < now() - make_interval(secs => ${minimumAgeSeconds})
      ORDER BY id ${direction}
      LIMIT ${limit}
    ) AS page`
}

const undoneEvents = countReads(
  readsOfEvents,
  page,
  selectUndone('id > $1::uuid AND id < $2::uuid', 'ASC', pageSize),
)
const newestUndone = countReads(readsOfEvents, page, selectUndone('id >= $1::uuid', 'DESC', maxNewest))

type UndoneRow = Omit<UndoneEvent, 'addressee'> & AddressColumns

function undoneEventOf({ ruleId, isDelivery, ...event }: UndoneRow): UndoneEvent {
  return { ...event, addressee: addresseeOf({ ruleId, isDelivery }) }
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
    async (from) => {
      const [page] = await database.run<BacklogPage<UndoneRow>>('find_newest_undone', newestUndone, [
        firstIdOf(from),
      ])
      return page?.rows.map(undoneEventOf) ?? []
    },
    ({ id }) => ({ time: timeOf(id), id }),
  )
}

/** Selects executions that are due, in the order of that time. */
function selectDue(bounds: string, direction: 'ASC' | 'DESC', limit: number): string {
  return `
    SELECT json_agg(page) AS rows FROM (
      SELECT id, event_id AS "eventId", workspace_id AS "workspaceId",
             (extract(epoch FROM due_at) * 1000)::float8 AS "dueAt",
             EXISTS (SELECT FROM workspaces WHERE workspaces.id = executions.workspace_id) AS "hasWorkspace",
             (SELECT created_by FROM workspaces WHERE workspaces.id = executions.workspace_id) AS "createdBy"
      FROM executions
      WHERE before.read >= 0 AND due_at <= now() AND ${bounds}
      ORDER BY due_at ${direction}, id ${direction}
      LIMIT ${limit}
    ) AS page`
}

const dueExecutions = countReads(
  readsOfExecutions,
  page,
  selectDue(
    `(due_at, id) > (to_timestamp($1::float8 / 1000), $2::uuid) AND due_at < to_timestamp($3::float8 / 1000)`,
    'ASC',
    pageSize,
  ),
)
const newestDue = countReads(
  readsOfExecutions,
  page,
  selectDue('due_at >= to_timestamp($1::float8 / 1000)', 'DESC', maxNewest),
)

/** Creates a walk through the executions of all workspaces that are due. */
export function walkExecutions(database: Database): BacklogWalk<UnclaimedExecution> {
  return new BacklogWalk(
    markExecutions(database),
    async ({ time, id }, before) => {
      const bounds = [time, id, before]
      const [page] = await database.run<BacklogPage<UnclaimedExecution>>('find_due', dueExecutions, bounds)
      return page ?? nothing
    },
    async (from) => {
      const [page] = await database.run<BacklogPage<UnclaimedExecution>>('find_newest_due', newestDue, [from])
      return page?.rows ?? []
    },
    ({ dueAt, id }) => ({ time: dueAt, id }),
  )
}
