import { firstTaskIdOf, Prisma } from '@automation/database'
import { actionDefinitions } from '@automation/engine'
import { faultOf, type Inconsistency, type Slice, type Snapshot, withinSlice } from './slice.js'

/** The effects of executions, by the results in their journals. */
export interface EffectCounts {
  tasks: number
  emittedEvents: number
  callsSucceeded: number
  callsFailed: number
  /** Calls that may or may not have been made. */
  callsUnknown: number
  /** Calls under way, or waiting for the next attempt. */
  callsOpen: number
}

const calls = actionDefinitions.filter(({ doneBy }) => doneBy === 'call').map(({ type }) => type)
const isCall = Prisma.sql`action IN (${Prisma.join(calls)})`

/** Compares tasks and emitted events with the results that report them. The effects of calls are outside of the service. */
export async function countEffects(snapshot: Snapshot, slice: Slice) {
  const [row] = await snapshot.$queryRaw<[EffectCounts & { faults: Inconsistency[] }]>(Prisma.sql`
    SELECT count(*) FILTER (WHERE makes_task)::int AS tasks,
           coalesce(sum(emits), 0)::int AS "emittedEvents",
           count(*) FILTER (WHERE ${isCall} AND result = 'success')::int AS "callsSucceeded",
           count(*) FILTER (WHERE ${isCall} AND result = 'failed')::int AS "callsFailed",
           count(*) FILTER (WHERE ${isCall} AND result = 'unknown')::int AS "callsUnknown",
           count(*) FILTER (WHERE ${isCall} AND result IN ('running', 'retrying'))::int AS "callsOpen",
           json_build_array(
             ${faultOf('action_left_open', Prisma.sql`status = 'succeeded' AND result IN ('running', 'retrying', 'scheduled', 'pending')`)},
             ${faultOf('task_missing', Prisma.sql`makes_task AND tasks.found = 0`)},
             ${faultOf('task_twice', Prisma.sql`makes_task AND tasks.found > 1`)},
             ${faultOf('emitted_event_missing', Prisma.sql`emits > events.found`)}) AS faults
    FROM (
      -- OFFSET 0: each journal is parsed once, and not again for each count.
      SELECT executions.id, executions.workspace_id, executions.status, ordinal::int - 1 AS index, action,
             journal.status AS result,
             action = 'CREATE_TASK' AND journal.status = 'success' AS makes_task,
             -- With forEach an action emits many events, whose ids were made in a row.
             CASE WHEN action = 'EMIT_EVENT' AND journal.status = 'success'
                  THEN coalesce((output->>'events')::int, 1) END AS emits,
             CASE WHEN action = 'EMIT_EVENT' AND journal.status = 'success'
                  THEN coalesce(output->>'eventId', output->>'firstEventId')::uuid END AS first_id,
             CASE WHEN action = 'EMIT_EVENT' AND journal.status = 'success'
                  THEN coalesce(output->>'eventId', output->>'lastEventId')::uuid END AS last_id
      FROM executions
      CROSS JOIN ROWS FROM (json_to_recordset(executions.results) AS (action text, status text, output json))
        WITH ORDINALITY AS journal (action, status, output, ordinal)
      WHERE ${withinSlice(slice, Prisma.sql`executions.`)}
      OFFSET 0
    ) AS listed
    LEFT JOIN LATERAL (
      SELECT count(*) AS found FROM tasks
      WHERE makes_task AND execution_id = listed.id AND action_index = listed.index
        AND workspace_id = listed.workspace_id AND tasks.id >= ${firstTaskIdOf([slice.from])}::uuid
    ) AS tasks ON true
    LEFT JOIN LATERAL (
      SELECT count(*) AS found FROM events
      WHERE listed.emits > 0 AND events.id BETWEEN listed.first_id AND listed.last_id
        AND events.workspace_id = listed.workspace_id AND events.caused_by = listed.id
    ) AS events ON true`)
  return row
}

/** Finds tasks without an execution. A task has a time of its own: it may be created long after its execution began. */
export async function findStrayTasks(snapshot: Snapshot, slice: Slice): Promise<Inconsistency[]> {
  const [row] = await snapshot.$queryRaw<[{ fault: Inconsistency }]>(Prisma.sql`
    SELECT ${faultOf('task_without_execution', Prisma.sql`true`)} AS fault
    FROM tasks
    WHERE ${withinSlice(slice)} AND execution_id >= ${slice.keptSince}::uuid AND NOT EXISTS (
      SELECT FROM executions
      WHERE executions.id = tasks.execution_id AND executions.workspace_id = tasks.workspace_id)`)
  return [row.fault]
}
