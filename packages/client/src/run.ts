import type { Accepted } from './api.js'
import type { KeyedOptions, SendOptions } from './send.js'

/** How long to wait for the outcome. */
export interface RunOptions extends KeyedOptions {
  /** Seconds, at most 30. Default: 10, set by the API. */
  wait?: number | undefined
  /** Does not wait: the status is `accepted`. */
  async?: boolean | undefined
}

/** The event is committed and runs now or later. */
export interface AcceptedRun extends Accepted {
  /** Id of the event. */
  eventId: string
  /** Path of its outcome. */
  location: string
  /** true for the stored response to an earlier call with the same key. */
  isReplayed: boolean
}

export type DoneRun<Outcome> = Outcome & {
  status: 'done'
  /** Id of the event, or of the execution if the rule was executed by hand: the two are the same then. */
  id: string
  /** Id of the event. */
  eventId: string
  location: string
  isReplayed: boolean
}

/** `status` distinguishes the two. */
export type Run<Outcome> = DoneRun<Outcome> | AcceptedRun

interface RunAnswer<Outcome> {
  status: 200 | 202
  headers: Headers
  body: Outcome | Accepted
}

/** Default wait of the API. */
const usualWaitSeconds = 10

export function preferring({ wait, async: isAsync, ...options }: RunOptions): SendOptions {
  if (wait !== undefined && !(Number.isFinite(wait) && wait >= 0))
    throw new TypeError(`wait must be a number of seconds from 0 on, not ${wait}`)
  const prefer = isAsync ? 'respond-async' : wait === undefined ? undefined : `wait=${wait}`
  return {
    ...options,
    waitMs: isAsync ? 0 : (wait ?? usualWaitSeconds) * 1_000,
    headers: (): Record<string, string> => (prefer === undefined ? {} : { prefer }),
  }
}

export function toRun<Outcome>({ status, headers, body }: RunAnswer<Outcome>): Run<Outcome> {
  const isReplayed = headers.get('idempotent-replayed') === 'true'
  if (status === 202) {
    const accepted = body as Accepted
    return { ...accepted, eventId: accepted.id, location: headers.get('location') ?? '', isReplayed }
  }
  const location = headers.get('content-location') ?? ''
  const id = location.slice(location.lastIndexOf('/') + 1)
  return { ...(body as Outcome), status: 'done', id, eventId: id, location, isReplayed }
}
