import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { isRequestUnfinished } from '@automation/process/server'
import { errorCodes, type FastifyRequest } from 'fastify'
import { refusals } from '../errors.js'
import { BodyHold, type BodyOwner, smallLength } from './body-budget.js'

/**
 * Reads a body. Fastify's own reader keeps whatever arrives, and tells nobody before the end. This one counts a body in the budget from its
 * headers on, by its Content-Length, or by its chunks as they come. A small one that came together with its headers costs nothing.
 *
 * @param admit refuses a request before its body is read, or says who pays for it; not asked about a body without costs
 * @throws refusals: 413 beyond the limit of the route, 415 for an encoding, 429 where the budget is used up
 */
export async function readBody(
  request: FastifyRequest,
  payload: Readable,
  admit: () => BodyOwner | Promise<BodyOwner>,
): Promise<Buffer> {
  const { headers, raw, routeOptions } = request
  const limit = routeOptions.bodyLimit
  const length = lengthOf(headers)
  if (length > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? '')) throw refusals.bodyEncoded()
  if (length > smallLength || (await isOnItsWay(raw))) {
    request.bodyHold = new BodyHold(request.server.bodyBudget, await admit())
    if (length > 0) request.bodyHold.take(length)
  }
  const { bodyHold } = request
  const body = await collect(payload, limit, (bytes) => {
    if (length === 0) bodyHold?.take(bytes)
  })
  bodyHold?.finish()
  request.bodyLength = body.length
  return body
}

/** What came together with the headers is parsed in a moment. */
async function isOnItsWay(raw: IncomingMessage): Promise<boolean> {
  if (!isRequestUnfinished(raw)) return false
  await new Promise((resolve) => setImmediate(resolve))
  return isRequestUnfinished(raw)
}

/** @param take is told how many bytes have come; what it throws ends the reading */
function collect(payload: Readable, limit: number, take: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0)
    let length = 0
    const onData = (chunk: Buffer) => {
      try {
        if (length + chunk.length > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
        take(chunk.length)
      } catch (error) {
        return end(() => reject(error))
      }
      bytes = append(bytes, length, chunk, limit)
      length += chunk.length
    }
    const onEnd = () => end(() => resolve(bytes.subarray(0, length)))
    const onError = (error: Error) => end(() => reject(refusals.hungUp(error)))
    const end = (settle: () => void) => {
      payload.off('data', onData).off('end', onEnd).off('error', onError)
      settle()
    }
    payload.on('data', onData).on('end', onEnd).on('error', onError)
    if (payload.destroyed) onError(new Error('The caller has hung up'))
  })
}

/** A list of chunks would take 270 bytes for each one, and a chunk may be one byte. A body that is one chunk is not copied. */
function append(bytes: Buffer, length: number, chunk: Buffer, limit: number): Buffer {
  if (length === 0) return chunk
  const needed = length + chunk.length
  const room = needed <= bytes.length ? bytes : Buffer.allocUnsafeSlow(Math.min(2 * needed, limit))
  if (room !== bytes) bytes.copy(room, 0, 0, length)
  chunk.copy(room, length)
  return room
}

function lengthOf(headers: IncomingMessage['headers']): number {
  return Number(headers['content-length'] ?? 0)
}
