import { maxEmitted } from './actions/emit-event.js'
import { maxDays } from './duration.js'
import type { WorkLimits } from './evaluation.js'
import { maxRounds } from './loop-template.js'
import { maxAddresses } from './mail-addresses.js'
import { maxPathLength } from './path.js'
import { maxPatternLength, maxSubjectLength } from './pattern.js'
import { maxFilters } from './placeholder.js'
import { maxCaptured } from './recorded.js'
import { maxActions, maxClauses, maxNesting, maxPatternSteps, maxPlaceholders } from './rule.js'
import { maxRenderedLength } from './to-text.js'

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
