import { setTimeout as delay } from 'node:timers/promises'
import { deliver, type Outcome } from './deliver.js'
import { type PlannedEvent, planEvent } from './planned-event.js'
import type { Site } from './site.js'

/** What the client knows of an event: how each of its calls ended. */
export interface SentEvent {
  event: PlannedEvent
  outcomes: Outcome[]
}

export interface LoadOptions {
  seed: number
  /** How many tags the longest lists have. */
  longest: number
}

export interface Load {
  sent: SentEvent[]
  /** Events of which one call at least was answered well. */
  acknowledged(): number
  /** Where the APIs are, how many calls have no end, the last start that failed, and how the latest events' calls ended. */
  describe(): string
  /** Lets so many be acknowledged before it waits. */
  release(count: number): void
  /** Waits for the calls under way, and for the repeats that are still to come. */
  stop(): Promise<void>
}

const latestCount = 40
/** For each API: what is stuck at one that sleeps leaves the other one its callers. */
const lanes = 40
/** A process that is not there refuses at once: no need to ask it all the time. */
const afterFailureMs = 1_000
/** What a caller with a key does who got no answer. */
const retry = { isToOtherApi: true, afterMs: 1_000 }

/** A client that posts one event after the other, as far as it is let, on some lanes to each API. */
export function startLoad(site: Site, { seed, longest }: LoadOptions): Load {
  const sent: SentEvent[] = []
  const copies = new Set<Promise<void>>()
  let next = 0
  let underWay = 0
  let acknowledged = 0
  let released = 0
  let isStopped = false
  const running = site.apis.flatMap((_, api) => Array.from({ length: lanes }, () => runLane(api)))

  return {
    sent,
    acknowledged: () => acknowledged,
    describe() {
      const latest = sent
        .slice(-latestCount)
        .flatMap(({ outcomes }) => outcomes.map(({ kind, status }) => `${kind} ${status}`))
      const urls = site.apis.map(({ baseUrl }) => baseUrl)
      const starts = `${site.failedStarts.length} failed starts (${site.failedStarts.at(-1) ?? 'none'})`
      return `${urls.join(' and ')}, ${underWay} of ${released} under way, ${starts}, the latest calls: ${latest.join(', ')}`
    },
    release(count) {
      released = count
    },
    async stop() {
      isStopped = true
      await Promise.all(running)
      await Promise.all(copies)
    },
  }

  async function runLane(api: number): Promise<void> {
    while (!isStopped) {
      if (acknowledged + underWay >= released) {
        await delay(20)
        continue
      }
      const record: SentEvent = { event: planEvent(seed, next++, longest), outcomes: [] }
      sent.push(record)
      underWay += 1
      const first = call(api, record)
      if (record.event.copy) repeat(api, record, record.event.copy)
      const { kind } = await first
      underWay -= 1
      if (kind === 'unknown' && record.event.isKeyed && !record.event.copy) repeat(api, record, retry)
      if (kind !== 'ok') await delay(afterFailureMs)
    }
  }

  function repeat(
    api: number,
    record: SentEvent,
    { isToOtherApi, afterMs }: NonNullable<PlannedEvent['copy']>,
  ): void {
    const copy = delay(afterMs).then(async () => {
      await call(isToOtherApi ? 1 - api : api, record)
      copies.delete(copy)
    })
    copies.add(copy)
  }

  async function call(api: number, { event, outcomes }: SentEvent): Promise<Outcome> {
    const outcome = await deliver(site, site.apis[api]?.baseUrl ?? '', event)
    if (outcome.kind === 'ok' && outcomes.every(({ kind }) => kind !== 'ok')) acknowledged += 1
    outcomes.push(outcome)
    return outcome
  }
}
