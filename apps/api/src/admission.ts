import { type Entry, FairQueue, NotAdmitted, ownerOf } from '@automation/admission'
import type { DatabaseLimits } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import { refusals } from './errors.js'

export type Admission = ReturnType<typeof createAdmission>

/** A program may ask for some hundred rows one by one, all at a time, within its rate; and for a burst of evaluations. */
const waitingReads = 256
const waitingEvaluations = 100

/** What the tenants of an API process share. Owners take turns by ms (fair-queue.ts in packages/admission). */
export function createAdmission({ statementMs, reads: { pool } }: DatabaseLimits) {
  return {
    /** A connection for the queries of tenants, for one statement. Half of them for an owner, who has one reconciliation at a time. */
    reads: new FairQueue({
      total: pool,
      perOwner: Math.floor(pool / 2),
      perKey: 1,
      waiting: waitingReads,
      timeoutMs: statementMs,
    }),
    /** From the reading of what is evaluated until it is: it may have 16 MiB. While one is read, another one is evaluated. */
    evaluations: new FairQueue({ total: 2, perOwner: 1, waiting: waitingEvaluations, timeoutMs: 3_000 }),
  }
}

interface EntryOptions {
  key?: string
  /** Of the time that the response has, for what follows. */
  reserveMs?: number
  /** How long (ms) it waits at most, if the response has more time. */
  mostMs?: number
  continues?: boolean
}

/**
 * Waits until it is the request's turn, and not for longer than its response has time.
 *
 * @throws NotAdmitted, or a refusal if nobody waits for the response any more
 */
export async function enter(
  request: FastifyRequest,
  resource: keyof Admission,
  { key, reserveMs = 0, mostMs = Number.POSITIVE_INFINITY, continues = false }: EntryOptions = {},
): Promise<Entry> {
  const { server, workspace, dueAt, raw } = request
  const timeoutMs = Math.min(dueAt - performance.now() - reserveMs, mostMs)
  const owner = ownerOf({ workspaceId: workspace.id, createdBy: workspace.createdBy })
  const asked = { timeoutMs, continues, ...(key !== undefined && { key }) }
  const entry = await server.admission[resource].enter(owner, asked).catch((error) => {
    const { readsRefused, evaluationsRefused } = server.metrics
    if (error instanceof NotAdmitted)
      (resource === 'reads' ? readsRefused : evaluationsRefused).too_many.inc()
    throw error
  })
  request.hasBegun = true
  if (!raw.socket.destroyed && performance.now() < dueAt) return entry
  entry.leave(0)
  throw refusals.unavailable(new Error('The caller did not wait'))
}

/** The reads of a request that has begun go before those of other requests of its owner. */
export async function readInTurn<Result>(
  request: FastifyRequest,
  read: () => Promise<Result>,
  options: EntryOptions = {},
): Promise<Result> {
  const entry = await enter(request, 'reads', { ...options, continues: request.hasBegun })
  try {
    return await read()
  } finally {
    entry.leave()
  }
}
