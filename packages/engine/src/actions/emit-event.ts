import { Type } from 'typebox'
import { EventType } from '../event-types.js'
import { isReserved, noEventData } from '../templates/credential.js'
import { constantTemplate } from '../templates/template.js'
import { maxPathLength, parsePath } from '../values/path.js'
import type { ActionDefinition } from './action-definition.js'

const lonePlaceholder = '^\\{\\{[^{}]*\\}\\}$'

const plainPath = '^[^{}]*$'

/** Of one action. */
export const maxEmitted = 500

export const emitEvent = {
  type: 'EMIT_EVENT',
  doneBy: 'commit',
  description:
    'Emits an event of the workspace, or one for each item of a list, exactly once. The active rules for its type run independently; this execution does not wait for them.',
  example: { eventType: 'DEAL_CREATED', data: { lead: '{{id}}', amount: '{{amount | default:0}}' } },
  config: Type.Object(
    {
      eventType: EventType,
      forEach: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: maxPathLength,
          pattern: plainPath,
          patternError: 'be the path of a list, such as items, without {{ }}',
          description: `Path of a list: an event for each of its items, at most ${maxEmitted}, all of them or none. It needs data, in which {{item}} is the item.`,
        }),
      ),
      where: Type.Optional(
        Type.Array(Type.Unsafe<object>({ $ref: 'Condition#' }), {
          minItems: 1,
          description:
            'Only with forEach: all of these must be true for an item, or it has no event. Their paths begin at the item.',
        }),
      ),
      data: Type.Optional(
        // A text must be a single placeholder. It renders as the object at its path.
        Type.Unsafe<Record<string, unknown> | string>({
          type: ['object', 'string'],
          additionalProperties: true,
          pattern: lonePlaceholder,
          patternError: 'be an object, or one placeholder that leads to an object',
          description: 'Data of the emitted event. Default: the data of the triggering event.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  formats: {
    data: () => 'must be an object',
    forEach(text) {
      if (isReserved(text)) return noEventData
      return parsePath(text) ? undefined : 'must be the path of a list, such as items or order.lines'
    },
  },
  templates: { forEach: constantTemplate },
  findFault({ forEach, where, data }) {
    if (forEach === undefined)
      return where === undefined ? undefined : { field: 'where', message: 'must stand beside forEach' }
    return data === undefined
      ? { field: 'data', message: 'is required with forEach: {{item}} is the item there' }
      : undefined
  },
} as const satisfies ActionDefinition
