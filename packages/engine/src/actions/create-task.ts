import { Type } from 'typebox'
import { duration } from '../formats.js'
import type { ActionDefinition } from './action-definition.js'

export const createTask = {
  type: 'CREATE_TASK',
  config: Type.Object(
    {
      title: Type.String({ minLength: 1, maxLength: 500 }),
      dueIn: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: 'Time until the task is due, from the execution: an integer with s, m, h, d or w',
        }),
      ),
      description: Type.Optional(Type.String({ maxLength: 10_000 })),
      assigneeId: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      priority: Type.Optional(Type.Enum(['low', 'normal', 'high', 'urgent'])),
    },
    { additionalProperties: false },
  ),
  formats: { dueIn: duration },
} as const satisfies ActionDefinition
