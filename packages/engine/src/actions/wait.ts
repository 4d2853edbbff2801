import { Type } from 'typebox'
import { findDurationFault } from '../duration.js'
import { duration, type Format } from '../formats.js'
import { findTimeFault, readTime } from '../read-time.js'
import { compileTemplate, type Template } from '../template.js'
import { parseTimestamp } from '../timestamp.js'
import type { ActionDefinition } from './action-definition.js'

const offset: Format = (text) =>
  findDurationFault(text.replace(/^[+-]/, '')) === undefined
    ? undefined
    : 'must be a duration with a sign, such as -3d or +12h, at most 366 days'

export const wait = {
  type: 'WAIT',
  doneBy: 'time',
  description:
    'Waits before the next action: for a duration, or until a date. A waiting execution occupies no worker, and survives restarts.',
  example: { duration: '3d' },
  config: Type.Object(
    {
      duration: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description:
            'Time before the next action: an integer with s, m, h, d or w, at most 366 days. Either this or `until` is required.',
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
    },
    { additionalProperties: false },
  ),
  formats: { duration, offset },
  templates: { until: compileMoment },
  findFault({ duration, until, offset }) {
    if (duration === undefined && until === undefined) return { field: 'duration', message: 'required' }
    if (duration !== undefined && until !== undefined)
      return { field: 'until', message: 'must not stand beside duration: a WAIT has one of them' }
    if (offset !== undefined && until === undefined)
      return { field: 'offset', message: 'must stand beside until' }
    if (typeof until !== 'string' || until === '' || until.includes('{{')) return undefined
    return Number.isNaN(parseTimestamp(until))
      ? {
          field: 'until',
          message:
            'must be a date such as 2027-03-01, a date-time with its zone such as 2027-03-01T09:00:00Z, or a placeholder',
        }
      : undefined
  },
} as const satisfies ActionDefinition

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
