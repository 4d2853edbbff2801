import { Type } from 'typebox'
import { duration } from '../templates/formats.js'
import type { ActionDefinition } from './action-definition.js'

export const taskPriorities = ['low', 'normal', 'high', 'urgent'] as const

export const createTask = {
  type: 'CREATE_TASK',
  doneBy: 'commit',
  description: 'Creates a task of the workspace, exactly once. GET /api/tasks lists them.',
  example: {
    title: 'Call {{name | default:"the lead"}}',
    dueIn: '24h',
    assigneeId: '{{owner}}',
    priority: 'high',
  },
  config: Type.Object(
    {
      title: Type.String({ minLength: 1, maxLength: 500, description: 'Title of the task' }),
      dueIn: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description:
            'Time until the task is due, counted from the execution: an integer with s, m, h, d or w',
        }),
      ),
      description: Type.Optional(Type.String({ maxLength: 10_000, description: 'Details' })),
      assigneeId: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'Id of a person in your system' }),
      ),
      priority: Type.Optional(Type.Enum([...taskPriorities], { description: 'Default: normal' })),
    },
    { additionalProperties: false },
  ),
  formats: { dueIn: duration },
} as const satisfies ActionDefinition
