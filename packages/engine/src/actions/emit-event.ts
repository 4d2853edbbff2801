import { Type } from 'typebox'
import { EventType } from '../event-types.js'
import type { ActionDefinition } from './action-definition.js'

export const lonePlaceholder = '^\\{\\{[^{}]*\\}\\}$'

export const emitEvent = {
  type: 'EMIT_EVENT',
  doneBy: 'commit',
  description:
    'Emits an event of the workspace, exactly once. The active rules for its type run independently; this execution does not wait for them.',
  example: { eventType: 'DEAL_CREATED', data: { lead: '{{id}}', amount: '{{amount | default:0}}' } },
  config: Type.Object(
    {
      eventType: EventType,
      data: Type.Optional(
        // A text must be a single placeholder. It renders as the object at its path.
        Type.Unsafe<Record<string, unknown> | string>({
          type: ['object', 'string'],
          additionalProperties: true,
          pattern: lonePlaceholder,
          description: 'Data of the emitted event. Default: the data of the triggering event.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  formats: { data: () => 'must be an object' },
} as const satisfies ActionDefinition
