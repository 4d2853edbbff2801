import { Type } from 'typebox'
import { duration } from '../formats.js'
import type { ActionDefinition } from './action-definition.js'

export const wait = {
  type: 'WAIT',
  doneBy: 'time',
  description: 'Waits before the next action. A waiting execution occupies no worker, and survives restarts.',
  example: { duration: '3d' },
  config: Type.Object(
    {
      duration: Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Time before the next action: an integer with s, m, h, d or w, at most 366 days',
      }),
    },
    { additionalProperties: false },
  ),
  formats: { duration },
} as const satisfies ActionDefinition
