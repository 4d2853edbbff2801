import { type FairSlots, TooMuchAtOnce } from '@automation/admission'
import type { FastifyRequest } from 'fastify'
import { type Refusal, refusals } from '../errors.js'

/** Of a request that waits for its turn. */
export interface Caller {
  workspaceId: string
  /** When the response is due (ms, by the process's monotonic clock). */
  dueAt: number
  /** Whether nobody waits for the response any more. */
  isGone(): boolean
}

export function callerOf({ workspace, dueAt, raw }: FastifyRequest): Caller {
  return {
    workspaceId: workspace.id,
    dueAt,
    isGone: () => raw.socket.destroyed || performance.now() >= dueAt,
  }
}

/** How long (ms) a read waits for others of its workspace where its request holds a place of few. */
const readPatienceMs = 1_000

/** From now on the request's reads wait that long at most, and no longer than the response is due. */
export function limitReadPatience(request: FastifyRequest): void {
  request.findReadPatience = () => Math.min(readPatienceMs, request.dueAt - performance.now())
}

/**
 * Runs work when it is the turn of the caller's workspace. Work of a caller who is gone by then is not run.
 *
 * @param refuse makes the refusal of work that waits too long, or behind too much; the default is that of a read
 * @param timeoutMs how long it may wait, where that is less than the slots allow
 */
export async function takeTurn<Result>(
  slots: FairSlots,
  caller: Caller,
  work: () => Promise<Result>,
  refuse?: (error: TooMuchAtOnce) => Refusal,
  timeoutMs?: number,
): Promise<Result> {
  let hasBegun = false
  const begin = () => {
    hasBegun = true
    if (caller.isGone()) throw refusals.unavailable(new Error('The caller did not wait'))
    return work()
  }
  try {
    return await slots.run(caller.workspaceId, begin, timeoutMs)
  } catch (error) {
    // The work itself may wait in other lines.
    if (refuse === undefined || hasBegun || !(error instanceof TooMuchAtOnce)) throw error
    throw refuse(error)
  }
}
