import { FairSlots } from '@automation/admission'
import type { ScanLimits, ScannedEvent } from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { ResultOf } from '../evaluation/evaluator.js'
import { scanInTurns } from '../evaluation/scan-in-turns.js'
import { callerOf, takeTurn } from '../evaluation/take-turn.js'

declare module 'fastify' {
  interface FastifyInstance {
    survey: ReturnType<typeof createSurvey>
  }
}

/** With its last turns it ends before the deadline of a request. */
const scanLimits = { events: 500_000, ms: 2_000 }
/** Surveys at a time: each holds a slice of events and up to 20 MB of what it has seen. */
const surveys = { total: 8, perOwner: 1, waitingPerOwner: 10, timeoutMs: 3_000 }

const noEvents = { fields: '{"events":0,"hasMorePaths":false,"fields":[]}', events: 0 }

interface Surveyed {
  /** JSON of `events`, `hasMorePaths` and `fields`. */
  fields: string
  isComplete: boolean
}

function createSurvey() {
  const slots = new FairSlots(surveys)
  return (...[request, type, wanted, limits]: Parameters<typeof surveyType>): Promise<Surveyed> =>
    takeTurn(slots, callerOf(request), () => surveyType(request, type, wanted, limits))
}

async function surveyType(
  request: FastifyRequest,
  type: string,
  wanted: number,
  limits: ScanLimits = scanLimits,
): Promise<Surveyed> {
  let last: ResultOf<'surveyEvents'> | undefined
  const takeTurn = async (events: ScannedEvent[]) => {
    const slice = events.map(({ json }) => json)
    last = await request.evaluate('surveyEvents', { events: slice, wanted, state: last?.state })
    return { used: last.used, isOver: last.events === wanted }
  }
  const range = { type, order: 'newest first' as const }
  const { end } = await scanInTurns(request, range, undefined, limits, takeTurn)
  const { fields, events } = last ?? noEvents
  return { fields, isComplete: end === undefined || events === wanted }
}

/** The survey of the newest events of a type, which a workspace has once at a time: `request.evaluate` parses them. */
export default fp(
  async (app) => {
    app.decorate('survey', createSurvey())
  },
  { name: 'survey', dependencies: ['evaluator'] },
)
