import { deserialize, serialize } from 'node:v8'
import { FieldSurvey, type SurveyState } from '@automation/engine'
import { type Bounds, openBudget } from './bounds.js'

export interface ToSurvey {
  /** JSON of the events' data. */
  events: string[]
  /** How many events the whole survey is about. */
  wanted: number
  /** Of the turn before. */
  state: Uint8Array | undefined
}

export interface Surveyed {
  /** For the next turn: the API passes it on, and never reads it. */
  state: Uint8Array
  /** How many events were surveyed in this turn: the rest is for the next one. */
  used: number
  /** In all turns. */
  events: number
  /** JSON of `events`, `hasMorePaths` and `fields` so far: the next turn may have to wait for too long. */
  fields: string
}

/** Surveys a slice of events, at least one where there is one, for as long as one turn of the child process may take. */
export function surveyEvents({ events, wanted, state, bounds }: ToSurvey & Bounds): Surveyed {
  const budget = openBudget({ bounds })
  const survey = new FieldSurvey(read(state))
  let used = 0
  for (const json of events) {
    survey.add(JSON.parse(json))
    used++
    if (survey.events === wanted || budget.isBeyond(0.5)) break
  }
  const { events: surveyed, hasMorePaths } = survey
  const fields = JSON.stringify({ events: surveyed, hasMorePaths, fields: survey.list() })
  return { state: serialize(survey.state), used, events: surveyed, fields }
}

function read(state: Uint8Array | undefined): SurveyState | undefined {
  return state === undefined ? undefined : deserialize(state)
}
