import type { Fault } from '@automation/engine'
import { Type } from 'typebox'
import { keyPattern } from '../../acceptance/idempotency/request-key.js'
import { EventData } from './event-schemas.js'

/** The fields of an event in the body of a request. */
export const typedEvent = {
  eventType: Type.Optional(
    Type.String({ description: 'Type of the event: of the catalogue, or of the workspace' }),
  ),
  type: Type.Optional(Type.String({ description: 'Another name of eventType. One of the two is required.' })),
  data: EventData,
  idempotencyKey: Type.Optional(
    Type.String({
      ...keyPattern,
      description:
        'Like the header Idempotency-Key: the event is accepted once, however often it is sent. The same key stands for the same event on every route that posts events.',
    }),
  ),
}

interface Typed {
  eventType?: string
  type?: string
}

/** The type that a body names. @param root of the paths in faults */
export function readType({ eventType, type }: Typed, root = ''): { type: string } | { fault: Fault } {
  const named = eventType ?? type
  const field = `${root}eventType`
  if (named === undefined) return { fault: { field, message: 'Required' } }
  if (eventType !== undefined && type !== undefined && eventType !== type)
    return { fault: { field: `${root}type`, message: 'Must be the same as eventType' } }
  return { type: named }
}
