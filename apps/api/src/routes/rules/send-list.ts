import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { createKeyedMutex } from '@automation/database'
import type { FastifyReply } from 'fastify'

const inTurn = createKeyedMutex()
const maxRestMs = 100
/** The sizes of a few hundred ordinary rules take less. */
const shortMs = 20
const patienceMs = 10_000

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
 * Sizes the rows of a list: Postgres decompresses all of their texts, which may take 0.1 s. One list of a workspace is sized or read at a time, and a long
 * step leaves the machine to others for as long as it took: five lists of 15 MB at once delayed others by 0.2 s. No other workspace waits for that.
 *
 * @throws DatabaseBusy where earlier lists of the workspace took too long
 */
export function sizeInTurn<Sizes>(workspaceId: string, size: () => PromiseLike<Sizes>): Promise<Sizes> {
  return inTurn(workspaceId, () => rest(size, ({ tookMs }) => tookMs > shortMs), patienceMs)
}

/** Further parts of a list have such turns, too. */
function readInTurn(workspaceId: string, parts: AsyncGenerator<string>): Promise<IteratorResult<string>> {
  return inTurn(workspaceId, () =>
    rest(
      () => parts.next(),
      ({ result }) => !result.done,
    ),
  )
}

async function rest<Result>(
  read: () => PromiseLike<Result>,
  isDue: (done: { result: Result; tookMs: number }) => boolean,
): Promise<Result> {
  const begunAt = performance.now()
  const result = await read()
  const tookMs = performance.now() - begunAt
  if (isDue({ result, tookMs })) await delay(Math.min(tookMs, maxRestMs))
  return result
}
