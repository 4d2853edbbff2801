import { setTimeout as delay } from 'node:timers/promises'
import { FairSlots } from '@automation/admission'
import { type Caller, takeTurn } from '../evaluation/take-turn.js'

/** A caller who waits for longer has given up, or should. */
const limits = { total: Number.POSITIVE_INFINITY, perOwner: 1, waitingPerOwner: 64, timeoutMs: 5_000 }
const slots = new FairSlots(limits)
const maxRestMs = 100
/** Sizing a few hundred ordinary rules, or counting some thousand events, takes less than this. */
const shortMs = 20

/**
 * Reads what may take Postgres 0.1 s although its result is small: the sizes of a list, for which all its texts are decompressed, or the number of matches of
 * a filter. Five of them at once delayed others by 0.2 s. So each process has one of a workspace at a time, and a long one is followed by a rest: as long as
 * it took, 100 ms at most. Other workspaces have turns of their own.
 *
 * @throws TooMuchAtOnce where too many of the workspace wait, or earlier ones took too long
 */
export function takeLongRead<Result>(caller: Caller, read: () => PromiseLike<Result>): Promise<Result> {
  return takeTurn(slots, caller, () => workAndRest(read, (tookMs) => (tookMs > shortMs ? tookMs : 0)))
}

/** A read that waits for its turn. */
interface WaitingRead {
  callers: Caller[]
  result: Promise<unknown>
}
const waitingReads = new Map<string, WaitingRead>()

/**
 * The same for what many callers of a workspace read alike: those who ask before the read begins share it. So they do not wait for one another, also where
 * Postgres is slow. Nobody may change the result.
 *
 * @param name of what is read, unique in the workspace
 */
export async function shareLongRead<Result>(
  caller: Caller,
  name: string,
  read: () => PromiseLike<Result>,
): Promise<Result> {
  const key = `${caller.workspaceId} ${name}`
  const waiting = waitingReads.get(key)
  if (waiting !== undefined) {
    waiting.callers.push(caller)
    return (await waiting.result) as Result
  }
  const callers = [caller]
  const isGone = () => callers.every((one) => one.isGone())
  const result = takeLongRead({ ...caller, isGone }, () => {
    waitingReads.delete(key)
    return read()
  })
  const own = { callers, result }
  waitingReads.set(key, own)
  try {
    return await result
  } finally {
    // Of a read that has not begun.
    if (waitingReads.get(key) === own) waitingReads.delete(key)
  }
}

/**
 * Works, and then leaves the machine to others.
 *
 * @param restFor returns the rest (ms) for work that took so long (ms). By default it is as long, and it is 100 ms at most.
 */
export async function workAndRest<Result>(
  work: () => PromiseLike<Result>,
  restFor: (tookMs: number) => number = (tookMs) => tookMs,
): Promise<Result> {
  const begunAt = performance.now()
  try {
    return await work()
  } finally {
    const restMs = Math.min(restFor(performance.now() - begunAt), maxRestMs)
    if (restMs > 0) await delay(restMs)
  }
}
