import { firstIdOf, Prisma, timeOf } from '@automation/database'

/** What the statements of the ledger are asked through: one snapshot for all of them. */
export type Snapshot = Pick<Prisma.TransactionClient, '$queryRaw'>

/** Rows whose ids lie in [from, to). Events and the executions of them lie in the same slices: their ids carry one time. */
export interface Slice {
  /** undefined: of all workspaces. */
  workspaceId: string | undefined
  from: string
  to: string
  /** What is older may have been removed for its age. */
  keptSince: string
}

/** So many ids of a fault are told. */
export const maxIds = 10

/** Something that must not be: how often, and some ids of what has it. */
export interface Fault {
  kind: FaultKind
  count: number
  ids: string[]
}

export type FaultKind = keyof typeof faultKinds

/** What the books are held to. Each of these counts must be 0. */
export const faultKinds = {
  receipt_without_event: 'a webhook was accepted, and an event that it became is not there',
  quarantined_not_done: 'an event was given up, and is not done',
  event_without_cause: 'an event was emitted by an execution that is not there',
  execution_without_event: 'an execution of an event that is not there',
  execution_too_early: 'an execution of an event that is not done, or was given up',
  execution_twice: 'one rule has two executions for one event',
  execution_adrift: 'an execution that is neither finished, nor waiting, nor leased: nobody would take it up',
  action_left_open: 'an execution has succeeded, and an action of it has not ended',
  task_missing: 'an action made a task that is not there',
  task_without_execution: 'a task of an execution that is not there',
  emitted_event_missing: 'an action emitted an event that is not there',
  counter_behind: 'a rule counts fewer successes or failures than there are',
} as const

const rowsOfSlice = 2_000

/**
 * Where the slice begins that ends at `to`: so far back that it holds some thousand events or executions, always at a border
 * between two milliseconds.
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

/** A condition on the columns `id` and `workspace_id`, of a table or its alias. */
export function withinSlice(
  { workspaceId, from, to }: Pick<Slice, 'workspaceId' | 'from' | 'to'>,
  table = Prisma.empty,
): Prisma.Sql {
  const range = Prisma.sql`${table}id >= ${from}::uuid AND ${table}id < ${to}::uuid`
  return workspaceId === undefined
    ? range
    : Prisma.sql`${table}workspace_id = ${workspaceId}::uuid AND ${range}`
}

/** How often, and the first ids, of rows that have something wrong with them. */
export function faultOf(kind: FaultKind, condition: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    json_build_object('kind', ${kind}::text, 'count', count(*) FILTER (WHERE ${condition}),
      'ids', coalesce((array_agg(id ORDER BY id) FILTER (WHERE ${condition}))[1:${maxIds}], '{}'))`
}
