import { type ScanLimits, type ScannedEvent, scanEvents } from '@automation/history'
import type { FastifyRequest } from 'fastify'
import type { Evaluate, ResultOf } from './evaluator.js'
import { scanInTurns } from './scan-in-turns.js'

/** With its last turns it ends before the deadline of a request. */
const scanLimits = { events: 500_000, ms: 2_000 }

const noEvents = { fields: '{"events":0,"hasMorePaths":false,"fields":[]}', events: 0 }

interface Surveyed {
  /** JSON of `events`, `hasMorePaths` and `fields`. */
  fields: string
  isComplete: boolean
}

/** Surveys the fields of the newest events of a type: the child process parses them. */
export async function surveyEventType(
  request: FastifyRequest,
  type: string,
  wanted: number,
  limits: ScanLimits = scanLimits,
): Promise<Surveyed> {
  let last: ResultOf<'surveyEvents'> | undefined
  const examineEvents = async (events: ScannedEvent[], evaluate: Evaluate) => {
    const slice = events.map(({ json }) => json)
    last = await evaluate('surveyEvents', { events: slice, wanted, state: last?.state })
    return { used: last.used, isOver: last.events === wanted }
  }
  const { reads, id: workspaceId } = request.workspace
  const range = { workspaceId, type, order: 'newest first' as const }
  const { end } = await scanInTurns(
    request,
    {
      scan: (visit) => scanEvents(reads, range, undefined, limits, visit),
      after: undefined,
      ms: limits.ms,
    },
    examineEvents,
  )
  const { fields, events } = last ?? noEvents
  return { fields, isComplete: end === undefined || events === wanted }
}
