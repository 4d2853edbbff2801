import { maxEmitted } from './actions/emit-event.js'
import { maxPatternLength, maxSubjectLength } from './operators/pattern.js'
import { maxCaptured } from './results/recorded.js'
import { maxActions, maxClauses, maxNesting, maxPatternSteps } from './rule.js'
import { maxRounds } from './templates/loop-template.js'
import { maxAddresses } from './templates/mail-addresses.js'
import { maxFilters, maxPlaceholders } from './templates/placeholder.js'
import { maxDays } from './times/duration.js'
import { maxPathLength } from './values/path.js'
import { maxRenderedLength } from './values/to-text.js'
import type { WorkLimits } from './work/evaluation.js'

/** Rules that trigger one another would never end: an event that is this many EMIT_EVENT actions away from outside emits none. */
export const maxEmissionDepth = 10

/** A limit of the rule language, as the vocabulary lists it. */
export interface Limit {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly description: string
}

/** The limits that the engine enforces. */
export function listLimits({ rule, event }: WorkLimits): Limit[] {
  return [
    limit('actions', maxActions, 'actions', 'In one rule'),
    limit('clauses', maxClauses, 'clauses', 'In one rule: its conditions and the `when` of its actions'),
    limit('nesting', maxNesting, 'levels', 'Condition groups (`all`, `any`, `not`) within condition groups'),
    limit('path', maxPathLength, 'characters', 'A field path'),
    limit('placeholders', maxPlaceholders, 'placeholders', 'In one rule'),
    limit('filters', maxFilters, 'filters', 'In one placeholder'),
    limit('rendered', maxRenderedLength, 'characters', 'A config after its placeholders are filled'),
    limit('rounds', maxRounds, 'items', 'Of a list that {{#each}} prints'),
    limit('addresses', maxAddresses, 'addresses', 'In each of to, cc and bcc of a SEND_EMAIL'),
    limit('emitted', maxEmitted, 'events', 'Of one EMIT_EVENT with forEach'),
    limit('captured', maxCaptured, 'values', 'Of responses, by `capture` in one rule'),
    limit('duration', maxDays, 'days', 'A duration'),
    limit('pattern', maxPatternLength, 'characters', 'A pattern of matches'),
    limit('patterns', maxPatternSteps, 'instructions', 'All patterns of one rule; \\p{…} counts three times'),
    limit(
      'subject',
      maxSubjectLength,
      'characters',
      'A string that matches looks at; a longer one does not match',
    ),
    limit('chain', maxEmissionDepth, 'events', 'Emitted by EMIT_EVENT, each because of the previous one'),
    limit('ruleWork', rule, 'units', 'Cost of evaluating one rule for one event'),
    limit('eventWork', event, 'units', 'Cost of evaluating all rules for one event'),
  ]
}

function limit(name: string, value: number, unit: string, description: string): Limit {
  return { name, value, unit, description }
}
