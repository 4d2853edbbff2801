import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { linkNext } from '../../lists/link-next.js'

/**
 * Sends a list while its rows are read: all of them may take 16 MiB, and many callers may ask for them.
 *
 * @param name of the list in the response
 * @param parts JSON of some rows each, separated by commas
 * @param nextCursor undefined if the response has no such field
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
    for (let part = first; !part.done; part = await parts.next()) {
      if (part.value === '') continue
      yield separator + part.value
      separator = ','
    }
    const opening = separator === ',' ? '' : separator
    yield `${opening}]${nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`}}`
  }
  linkNext(reply, nextCursor ?? null)
  return reply.type('application/json; charset=utf-8').send(Readable.from(write(), { objectMode: false }))
}
