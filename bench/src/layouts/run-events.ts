import { type Database, executionIdOf, newId, taskIdOf } from '@automation/database'
import { acceptEvents, finishEvents, type LoadedEvent, loadEvents, type Outcome } from '@automation/ledger'
import { eventType } from '../usual-case.js'

/** What its events run: a rule that matches and creates a task. */
export interface Owner {
  workspaceId: string
  ruleId: string
}

/** 128 callers that wait for their outcomes share batches of about this size. */
const batchSize = 64
const batchesAtOnce = 2
const ruleSetId = newId()

/**
 * Accepts events, loads them and finishes them by the statements of the product, and without its other work.
 *
 * @param after is told how many events are done, after each batch
 * @returns their number
 */
export async function runEvents(
  database: Database,
  { owners, data, seconds }: { owners: Owner[]; data: object; seconds: number },
  after: (done: number) => Promise<void>,
): Promise<number> {
  const endsAt = performance.now() + seconds * 1_000
  let done = 0
  const runBatches = async () => {
    while (performance.now() < endsAt) {
      await runBatch(database, owners, data)
      done += batchSize
      await after(done)
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, runBatches))
  return done
}

async function runBatch(database: Database, owners: Owner[], data: object): Promise<void> {
  const jobId = newId()
  const events = Array.from({ length: batchSize }, (_, place) => ({
    id: newId(),
    workspaceId: (owners[place % owners.length] as Owner).workspaceId,
    ...{ type: eventType, data, addressee: null },
  }))
  await acceptEvents(
    database,
    events.map((event) => ({ carried: [{ event, jobId }], receipt: undefined })),
  )
  const loaded = await loadEvents(
    database,
    events.map(({ id }) => id),
  )
  const outcomes = loaded.map((event, place) =>
    outcomeOf(event as LoadedEvent, (owners[place % owners.length] as Owner).ruleId),
  )
  const { held } = await finishEvents(database, outcomes)
  if (held.includes(undefined)) throw new Error('Events were not finished')
}

function outcomeOf(event: LoadedEvent, ruleId: string): Outcome {
  const now = new Date()
  const id = executionIdOf(event, ruleId)
  const task = { actionIndex: 0, title: 'Call Ada Lovelace', description: null, assigneeId: null }
  const record = {
    ...{ id, handlerId: ruleId, ruleVersion: 1, status: 'succeeded' as const, error: null },
    results: [{ action: 'CREATE_TASK' as const, status: 'success' as const }],
    ...{ startedAt: now, finishedAt: now, dueAt: null, lease: null },
    ...{ awaitsSlot: false, interruptions: 0, reopened: 0, attention: null },
  }
  const tasks = [{ ...task, id: taskIdOf(record, 0, now), priority: 'normal', dueAt: null, createdAt: now }]
  return { event, ruleSetId, rulesVersion: 1, executions: [{ record, event, tasks, emitted: [] }] }
}
