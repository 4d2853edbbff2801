import { firstIdOf, Prisma, timeOf } from '@automation/database'

/** One snapshot of the database, for all statements of a reconciliation. */
export type Snapshot = Pick<Prisma.TransactionClient, '$queryRaw' | '$executeRawUnsafe'>

/** Rows with ids in [from, to). An event and its executions are in the same slice: their ids contain the same time. */
export interface Slice {
  /** undefined: all workspaces. */
  workspaceId: string | undefined
  from: string
  to: string
  /** Older rows may have been removed by retention. */
  keptSince: string
}

/** How many ids a fault names. */
export const maxIds = 10

/** A violation: how often it occurs, and some ids of the rows. */
export interface Inconsistency {
  kind: InconsistencyKind
  count: number
  ids: string[]
}

export type InconsistencyKind = keyof typeof faultKinds

/** The kinds of violations. The count of each must be 0. */
export const faultKinds = {
  receipt_without_event: 'an event of an accepted webhook is missing',
  quarantined_not_done: 'an event is quarantined, but not done',
  event_without_cause: 'the execution that emitted an event is missing',
  execution_without_event: 'the event of an execution is missing',
  execution_too_early: 'an execution exists, but its event is not done, or is quarantined',
  execution_twice: 'a rule has two executions for one event',
  wait_without_key:
    'an execution waits for an event that would not wake it, or would be woken and waits for none',
  execution_adrift: 'an execution is neither finished, nor waiting, nor leased: no worker would claim it',
  claim_without_execution:
    'an event counts for a limit of a rule, but its execution is missing or suppressed',
  action_left_open: 'an execution has succeeded, but one of its actions has not ended',
  task_missing: 'the task that an action created is missing',
  task_twice: 'an action has created two tasks',
  task_without_execution: 'the execution of a task is missing',
  emitted_event_missing: 'the event that an action emitted is missing',
  counter_behind: 'a rule counts fewer successes or failures than it has executions',
  tick_lost: 'between two ticks of a schedule more or fewer were due than the second one says',
} as const

const rowsOfSlice = 2_000

/**
 * Finds the start of the slice that ends at `to`, so that it contains some thousand events or executions. It always starts at the
 * beginning of a millisecond.
 */
export async function findSliceStart(snapshot: Snapshot, { workspaceId, from, to }: Slice): Promise<string> {
  const within = withinSlice({ workspaceId, from, to })
  const [found] = await snapshot.$queryRaw<{ id: string | null }[]>(Prisma.sql`
    SELECT greatest(
      (SELECT id FROM events WHERE ${within} ORDER BY id DESC OFFSET ${rowsOfSlice} LIMIT 1),
      (SELECT id FROM executions WHERE ${within} ORDER BY id DESC OFFSET ${rowsOfSlice} LIMIT 1)) AS id`)
  if (!found?.id) return from
  const start = firstIdOf(timeOf(found.id))
  return start < from ? from : start
}

/** A condition on the columns `id` and `workspace_id`. @param table with a dot, or nothing */
export function withinSlice(
  { workspaceId, from, to }: Pick<Slice, 'workspaceId' | 'from' | 'to'>,
  table = Prisma.empty,
): Prisma.Sql {
  const range = Prisma.sql`${table}id >= ${from}::uuid AND ${table}id < ${to}::uuid`
  return workspaceId === undefined
    ? range
    : Prisma.sql`${table}workspace_id = ${workspaceId}::uuid AND ${range}`
}

/** Aggregates the rows with a fault: their number, and the first ids. */
export function faultOf(kind: InconsistencyKind, condition: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    json_build_object('kind', ${kind}::text, 'count', count(*) FILTER (WHERE ${condition}),
      'ids', coalesce((array_agg(id ORDER BY id) FILTER (WHERE ${condition}))[1:${maxIds}], '{}'))`
}
