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
}

/** Surveys a slice of events, at least one, for as long as one turn of the thread may take. */
export function surveyEvents({ events, wanted, state, bounds }: ToSurvey & Bounds): Surveyed {
  const budget = openBudget({ bounds })
  const survey = new FieldSurvey(read(state))
  let used = 0
  for (const json of events) {
    survey.add(JSON.parse(json))
    used++
    if (survey.events === wanted || budget.isBeyond(0.5)) break
  }
  return { state: serialize(survey.state), used, events: survey.events }
}

/** @returns the JSON of `events`, `hasMorePaths` and `fields` */
export function listFields({ state }: { state: Uint8Array | undefined }): string {
  const survey = new FieldSurvey(read(state))
  const { events, hasMorePaths } = survey
  return JSON.stringify({ events, hasMorePaths, fields: survey.list() })
}

function read(state: Uint8Array | undefined): SurveyState | undefined {
  return state === undefined ? undefined : deserialize(state)
}
