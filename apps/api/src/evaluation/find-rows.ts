import type { Conditions, WorkLimits } from '@automation/engine'
import type { ScanLimits, Scanned, Visit } from '@automation/history'
import type { FastifyRequest } from 'fastify'
import type { Evaluate } from './evaluator.js'
import { scanInTurns } from './scan-in-turns.js'

export interface Wanted {
  conditions: Conditions
  /** As of readWords. */
  words: string[]
  /** See matchEvents. */
  at?: { path: string; value: string | number }
  limit: number
}

interface Row {
  id: string
  json: string
  /** Epoch ms. */
  acceptedAt: number
}

/** Of one page, which is short where few rows match. */
const pageLimits: ScanLimits = { events: 20_000, ms: 2_000 }

/**
 * Finds rows by the JSON of each, the newest first.
 *
 * @param after the `end` of the page before
 */
export async function findRows<Found extends Row>(
  request: FastifyRequest,
  { conditions, words, at, limit }: Wanted,
  scan: (limits: ScanLimits, visit: Visit<Found>) => Promise<Scanned>,
  after: string | undefined,
  limits: WorkLimits,
) {
  const ids: string[] = []
  let notJudged = 0
  const examineRows = async (rows: Found[], evaluate: Evaluate) => {
    const events = rows.map(({ json, acceptedAt }) => ({ json, acceptedAt }))
    const turn = await evaluate('matchEvents', { conditions, words, at, events, limits })
    notJudged += turn.notJudged
    for (const index of turn.matched) {
      ids.push((rows[index] as Found).id)
      if (ids.length === limit) return { used: index + 1, isOver: true }
    }
    return turn
  }
  const toScan = { scan: (visit: Visit<Found>) => scan(pageLimits, visit), after, ms: pageLimits.ms }
  const { scanned, end } = await scanInTurns(request, toScan, examineRows)
  return { ids, scanned, notJudged, end }
}
