import {
  type ScanLimits,
  type Scanned,
  type ScannedEvent,
  type ScanRange,
  scanEvents,
} from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import { isTooMany, type Refusal, refusals } from '../errors.js'
import { callerOf, takeTurn as takePlace } from './take-turn.js'

/** Scans at a time: each holds a slice, a mebibyte and the event that fills it. */
export const scans = { total: 16, perOwner: 4, waitingPerOwner: 100, timeoutMs: 3_000 }

interface Turn {
  /** How many events it used, at least one: the rest is for the next turn. */
  used: number
  /** Whether the scan has found enough. */
  isOver?: boolean
}

/**
 * Passes over stored events in turns of the child process. The scan ends where its time does, also within a slice, and where others keep it
 * busy: what the turns before have found is not lost, and it can be continued.
 *
 * @throws refusals: 429 where it came nowhere
 */
export function scanInTurns(...scan: Parameters<typeof scanNow>): Promise<Scanned> {
  const [request] = scan
  const { scanPlaces } = request.server
  return takePlace(
    scanPlaces,
    callerOf(request),
    () => scanNow(...scan),
    (error) => refusals.tooManyScans(scans, error),
  )
}

async function scanNow(
  { workspace }: FastifyRequest,
  range: Omit<ScanRange, 'workspaceId'>,
  after: string | undefined,
  limits: ScanLimits,
  takeTurn: (events: ScannedEvent[]) => Promise<Turn>,
): Promise<Scanned> {
  const startedAt = performance.now()
  let refusal: Refusal | undefined
  const visit = async (events: ScannedEvent[]): Promise<string | null | undefined> => {
    let used = 0
    const last = () => events[used - 1]?.id ?? null
    while (used < events.length) {
      try {
        const turn = await takeTurn(events.slice(used))
        used += turn.used
        if (turn.isOver) return last()
      } catch (error) {
        if (!isTooMany(error)) throw error
        refusal = error
        return last()
      }
      if (used < events.length && performance.now() - startedAt > limits.ms) return last()
    }
    return undefined
  }
  const scanned = await scanEvents(
    workspace.reads,
    { workspaceId: workspace.id, ...range },
    after,
    limits,
    visit,
  )
  if (refusal !== undefined && scanned.end === after) throw refusal
  return scanned
}
