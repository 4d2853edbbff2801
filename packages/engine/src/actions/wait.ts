import { Type } from 'typebox'
import { EventType } from '../event-types.js'
import { findHoursFault, Hours } from '../hours/hours.js'
import { expiredChoice } from '../results/decision.js'
import { recordedName, recordedNameError } from '../results/recorded.js'
import { isReserved, noEventData } from '../templates/credential.js'
import { duration, type Format } from '../templates/formats.js'
import { compileTemplate, type Template } from '../templates/template.js'
import { cutText } from '../texts/cut-text.js'
import { findDurationFault } from '../times/duration.js'
import { findTimeFault, readTime } from '../times/read-time.js'
import { parseTimestamp } from '../times/timestamp.js'
import { maxPathLength, parsePath } from '../values/path.js'
import type { ActionDefinition } from './action-definition.js'

const offset: Format = (text) =>
  findDurationFault(text.replace(/^[+-]/, '')) === undefined
    ? undefined
    : 'must be a duration with a sign, such as -3d or +12h, at most 366 days'

/** In one WAIT. */
const maxMatched = 5
/** Of a text that is matched. */
export const maxMatchLength = 1_000

const WaitFor = Type.Object(
  {
    eventType: EventType,
    match: Type.Record(
      Type.String({ minLength: 1, maxLength: maxPathLength }),
      Type.Unsafe<string | number | boolean>({
        type: ['string', 'number', 'boolean'],
        minLength: 1,
        maxLength: maxMatchLength,
      }),
      {
        minProperties: 1,
        maxProperties: maxMatched,
        description: `Which events are meant: paths into their data, such as deal.id, and the values that they must equal, such as {{deal.id}}. All of them must, at most ${maxMatched}. A value that is missing or empty fails the action.`,
      },
    ),
    conditions: Type.Optional(
      Type.Array(Type.Unsafe<object>({ $ref: 'Condition#' }), {
        minItems: 1,
        description: 'What else must be true for the event. Their paths begin in its data.',
      }),
    ),
    then: Type.Enum(['go_on', 'stop'], {
      description:
        'What such an event does. go_on: the next action follows. stop: the execution ends successfully, and the other actions are skipped. If time ends the WAIT, the next action always follows.',
    }),
  },
  {
    additionalProperties: false,
    title: 'WaitFor',
    description:
      'Ends the WAIT early, at an event that was accepted after that of the execution. `duration` or `until` is then the longest time. The values of `match` accept placeholders. Later actions read the data of the event as {{waited.path}}.',
  },
)

const WaitDecision = Type.Object(
  {
    options: Type.Array(Type.String({ pattern: recordedName, patternError: recordedNameError }), {
      minItems: 2,
      maxItems: 10,
      uniqueItems: true,
      description: 'What a person can choose, such as approve and reject',
    }),
    roles: Type.Optional(
      Type.Array(Type.Enum(['operator', 'editor', 'admin']), {
        minItems: 1,
        uniqueItems: true,
        description: 'Who may decide. Default: everybody from operator on',
      }),
    ),
    ask: Type.Optional(
      Type.Array(Type.Enum(['reason']), {
        minItems: 1,
        maxItems: 1,
        description: 'What the person must say beside the choice',
      }),
    ),
    within: Type.String({
      minLength: 1,
      maxLength: 200,
      description: `How long the WAIT lasts at most, such as 24h. Then the choice is ${expiredChoice}, and the next action follows.`,
    }),
  },
  {
    additionalProperties: false,
    title: 'WaitDecision',
    description:
      'Ends the WAIT when a person decides. Alone in its WAIT, and once in a rule. Later actions read decision.choice and decision.reason; earlier ones send decision.links.NAME of each option.',
  },
)

export const wait = {
  type: 'WAIT',
  doneBy: 'time',
  description:
    'Waits before the next action: for a duration, until a date, for an event, or for a person to decide. A waiting execution occupies no worker, and survives restarts.',
  example: { duration: '3d' },
  config: Type.Object(
    {
      duration: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description:
            'Time before the next action: an integer with s, m, h, d or w, at most 366 days. This, `until` or `decision` is required.',
        }),
      ),
      until: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description:
            'The moment of the next action, such as {{renewalDate}}: a date, or a date-time with its zone, at most 366 days ahead. If it is past, the next action follows at once.',
        }),
      ),
      offset: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description:
            'Only with `until`: how much earlier or later, such as -3d or +12h. A day has 24 hours here.',
        }),
      ),
      for: Type.Optional(WaitFor),
      decision: Type.Optional(WaitDecision),
      time: Type.Optional({
        ...Hours,
        description: 'The next action follows at the first moment within these hours after that',
      }),
    },
    { additionalProperties: false },
  ),
  formats: { duration, offset },
  templates: { until: compileMoment },
  findFault({ decision, ...config }) {
    if (decision !== undefined) return findDecisionFault(decision, config)
    const { duration, until, offset, for: awaited, time } = config
    if (duration === undefined && until === undefined)
      return {
        field: 'duration',
        message: `required, unless there is ${awaited === undefined ? 'until or decision' : 'until'}`,
      }
    if (duration !== undefined && until !== undefined)
      return { field: 'until', message: 'must not stand beside duration: a WAIT has one of them' }
    if (offset !== undefined && until === undefined)
      return { field: 'offset', message: 'must stand beside until' }
    if (time !== undefined && awaited !== undefined)
      return { field: 'time', message: 'must not stand beside for' }
    const fault = findHoursFault(time)
    if (fault !== undefined) return { field: `time.${fault.field}`, message: fault.message }
    if (
      typeof until === 'string' &&
      until !== '' &&
      !until.includes('{{') &&
      Number.isNaN(parseTimestamp(until))
    )
      return {
        field: 'until',
        message:
          'must be a date such as 2027-03-01, a date-time with its zone such as 2027-03-01T09:00:00Z, or a placeholder',
      }
    return findMatchFault(awaited)
  },
} as const satisfies ActionDefinition

/** Takes any shape. */
function findDecisionFault(
  decision: unknown,
  others: Readonly<Record<string, unknown>>,
): { field: string; message: string } | undefined {
  const [other] = ['duration', 'until', 'offset', 'for', 'time'].filter((name) => others[name] !== undefined)
  if (other !== undefined)
    return { field: other, message: 'must not stand beside decision: its `within` says how long it waits' }
  const { options, within } = (decision ?? {}) as { options?: unknown; within?: unknown }
  if (Array.isArray(options) && options.includes(expiredChoice))
    return {
      field: 'decision.options',
      message: `must not have ${expiredChoice}: that is the choice when the time is over`,
    }
  const fault = typeof within === 'string' && within !== '' ? findDurationFault(within) : undefined
  return fault === undefined ? undefined : { field: 'decision.within', message: fault }
}

/** Of the paths in `match`, which no schema checks. Takes any shape. */
function findMatchFault(awaited: unknown): { field: string; message: string } | undefined {
  const { match } = (awaited ?? {}) as { match?: unknown }
  if (typeof match !== 'object' || match === null) return undefined
  for (const path of Object.keys(match)) {
    const field = `for.match.${cutText(path, 60)}`
    if (isReserved(path)) return { field, message: noEventData }
    if (!parsePath(path)) return { field, message: 'must be a field path such as deal.id' }
  }
  return undefined
}

/** A number is Unix seconds or milliseconds, and as a text it would be no time. */
function compileMoment(text: string): Template | string {
  const template = compileTemplate(text)
  if (typeof template === 'string' || template.placeholders === 0) return template
  return {
    ...template,
    render(data, rendering) {
      const value = template.render(data, rendering)
      if (typeof value !== 'number') return value
      const fault = findTimeFault(value)
      if (fault !== undefined) rendering.fault ??= `config.until: ${fault}`
      return fault === undefined ? new Date(readTime(value)).toISOString() : String(value)
    },
  }
}
