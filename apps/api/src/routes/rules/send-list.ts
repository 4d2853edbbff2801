import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { createKeyedMutex, FairSlots } from '@automation/database'
import type { FastifyReply } from 'fastify'
import { type Caller, takeTurn } from '../../judging/take-turn.js'

/** A list that waits for longer would be of little use to its caller. */
const sizeLimits = { total: Number.POSITIVE_INFINITY, perOwner: 1, waitingPerOwner: 64, timeoutMs: 5_000 }
const sizeSlots = new FairSlots(sizeLimits)
const inTurn = createKeyedMutex()
const maxRestMs = 100
/** Sizing a few hundred ordinary rules takes less than this. */
const shortMs = 20

/**
 * Sends a list while its rows are read: all of them may take 16 MiB, and many callers may ask for them.
 *
 * @param name of the list in the response
 * @param parts JSON of some rows each, separated by commas
 * @param nextCursor undefined where the response has no such field
 */
export async function sendList(
  reply: FastifyReply,
  name: string,
  parts: AsyncGenerator<string>,
  nextCursor?: string | null,
): Promise<FastifyReply> {
  // Read before the status is sent: what fails now is a response of its own.
  const first = await parts.next()
  const write = async function* () {
    let separator = `{"${name}":[`
    for (let part = first; !part.done; part = await readInTurn(reply.request.workspace.id, parts)) {
      if (part.value === '') continue
      yield separator + part.value
      separator = ','
    }
    const opening = separator === ',' ? '' : separator
    yield `${opening}]${nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`}}`
  }
  return reply.type('application/json; charset=utf-8').send(Readable.from(write(), { objectMode: false }))
}

/**
 * Sizes the rows of a list. Postgres decompresses all their texts for that, which may take 0.1 s, and five such lists at once delayed others by 0.2 s.
 * So each process sizes the lists of a workspace one at a time, and a long step is followed by a rest: as long as the step, 100 ms at most.
 * Other workspaces have turns of their own.
 *
 * @throws TooMuchAtOnce where too many lists of the workspace wait, or earlier ones took too long
 */
export function sizeInTurn<Sizes>(caller: Caller, size: () => PromiseLike<Sizes>): Promise<Sizes> {
  return takeTurn(sizeSlots, caller, () => readAndRest(size, (tookMs) => tookMs > shortMs))
}

/** A list that has begun waits for others of the workspace that have begun, and for no new one. */
function readInTurn(workspaceId: string, parts: AsyncGenerator<string>): Promise<IteratorResult<string>> {
  return inTurn(workspaceId, () =>
    readAndRest(
      () => parts.next(),
      () => true,
    ),
  )
}

async function readAndRest<Result>(
  read: () => PromiseLike<Result>,
  needsRest: (tookMs: number) => boolean,
): Promise<Result> {
  const begunAt = performance.now()
  try {
    return await read()
  } finally {
    const tookMs = performance.now() - begunAt
    if (needsRest(tookMs)) await delay(Math.min(tookMs, maxRestMs))
  }
}
