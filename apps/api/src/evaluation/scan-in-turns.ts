import { NotAdmitted } from '@automation/admission'
import {
  type ScanLimits,
  type Scanned,
  type ScannedEvent,
  type ScanRange,
  scanEvents,
} from '@automation/history'
import type { FastifyRequest } from 'fastify'
import type { Evaluate } from './evaluator.js'

interface Turn {
  /** How many events it used, at least one: the rest is for the next turn. */
  used: number
  /** Whether the scan has found enough. */
  isOver?: boolean
}

/**
 * Passes over stored events in turns, each with a slice that it reads and evaluates, a mebibyte and the event that fills it. The scan ends when its time does,
 * also within a slice, and when others keep it waiting: what the turns before have found is not lost, and it can be continued.
 *
 * @throws NotAdmitted if it came nowhere
 */
export async function scanInTurns(
  request: FastifyRequest,
  range: Omit<ScanRange, 'workspaceId'>,
  after: string | undefined,
  limits: ScanLimits,
  examineEvents: (events: ScannedEvent[], evaluate: Evaluate) => Promise<Turn>,
): Promise<Scanned> {
  const { server, workspace } = request
  const startedAt = performance.now()
  let entry = await server.evaluator.enter(request)
  let refusal: unknown
  const visit = async (events: ScannedEvent[]): Promise<string | null | undefined> => {
    let used = 0
    const last = () => events[used - 1]?.id ?? null
    while (used < events.length) {
      const turn = await examineEvents(events.slice(used), (name, input) => server.evaluator.run(name, input))
      used += turn.used
      if (turn.isOver || performance.now() - startedAt > limits.ms) return last()
      entry.leave()
      try {
        entry = await server.evaluator.enter(request, true)
      } catch (error) {
        if (!(error instanceof NotAdmitted)) throw error
        refusal = error
        return last()
      }
    }
    return undefined
  }
  try {
    const scanned = await scanEvents(
      workspace.reads,
      { workspaceId: workspace.id, ...range },
      after,
      limits,
      visit,
    )
    if (refusal !== undefined && scanned.end === after) throw refusal
    return scanned
  } finally {
    entry.leave()
  }
}
