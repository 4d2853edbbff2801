import type { Conditions, WorkLimits } from '@automation/engine'
import type { ScannedEvent, ScanRange } from '@automation/history'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Evaluate } from '../../evaluation/evaluator.js'
import { scanInTurns } from '../../evaluation/scan-in-turns.js'
import { SearchText } from '../../lists/search-text.js'

export const SearchWords = Type.Optional({
  ...SearchText,
  description:
    'Words, all of which the data of the event has in any of its texts and numbers, also as a part of a longer word and in other letter case. Deliveries are not found.',
})

interface Wanted {
  conditions: Conditions
  /** As of readWords. */
  words: string[]
  range: Omit<ScanRange, 'workspaceId' | 'order'>
  limit: number
}

/** Of one page, which is short where few events match. */
const pageLimits = { events: 20_000, ms: 2_000 }

/** Finds events by their data, the newest first. @param after the `end` of the page before */
export async function findEvents(
  request: FastifyRequest,
  { conditions, words, range, limit }: Wanted,
  after: string | undefined,
  limits: WorkLimits,
) {
  const ids: string[] = []
  let notJudged = 0
  const examineEvents = async (events: ScannedEvent[], evaluate: Evaluate) => {
    const slice = events.map(({ json, acceptedAt }) => ({ json, acceptedAt }))
    const turn = await evaluate('matchEvents', { conditions, words, events: slice, limits })
    notJudged += turn.notJudged
    for (const index of turn.matched) {
      ids.push((events[index] as ScannedEvent).id)
      if (ids.length === limit) return { used: index + 1, isOver: true }
    }
    return turn
  }
  const newestFirst = { ...range, order: 'newest first' as const }
  const { scanned, end } = await scanInTurns(request, newestFirst, after, pageLimits, examineEvents)
  return { ids, scanned, notJudged, end }
}
