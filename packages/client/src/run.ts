import type { Accepted } from './api.js'
import type { KeyedOptions, SendOptions } from './send.js'

/** How long to wait for the outcome of what is run. */
export interface RunOptions extends KeyedOptions {
  /** Seconds, at most 30. Where omitted the API's own 10. */
  wait?: number | undefined
  /** Do not wait: the answer is `accepted`. */
  async?: boolean | undefined
}

/** It runs, or will: committed, and not lost any more. */
export interface AcceptedRun extends Accepted {
  /** Path of its outcome. */
  location: string
  /** The answer to an earlier call with the same key. */
  isReplayed: boolean
}

export type DoneRun<Outcome> = Outcome & {
  status: 'done'
  /** Of the event; executed by hand, of the execution. */
  id: string
  location: string
  isReplayed: boolean
}

/** `status` tells which of the two it is. */
export type Run<Outcome> = DoneRun<Outcome> | AcceptedRun

interface RunAnswer<Outcome> {
  status: 200 | 202
  headers: Headers
  body: Outcome | Accepted
}

/** What the API waits where nothing is preferred. */
const usualWaitSeconds = 10

export function preferring({ wait, async: isAsync, ...options }: RunOptions): SendOptions {
  const prefer = isAsync ? 'respond-async' : wait === undefined ? undefined : `wait=${wait}`
  return {
    ...options,
    waitMs: isAsync ? 0 : (wait ?? usualWaitSeconds) * 1_000,
    headers: (): Record<string, string> => (prefer === undefined ? {} : { prefer }),
  }
}

export function tellRun<Outcome>({ status, headers, body }: RunAnswer<Outcome>): Run<Outcome> {
  const isReplayed = headers.get('idempotent-replayed') === 'true'
  if (status === 202) {
    return { ...(body as Accepted), location: headers.get('location') ?? '', isReplayed }
  }
  const location = headers.get('content-location') ?? ''
  const id = location.slice(location.lastIndexOf('/') + 1)
  return { ...(body as Outcome), status: 'done', id, location, isReplayed }
}
