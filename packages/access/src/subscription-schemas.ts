import { Type } from 'typebox'
import { ServiceEventType } from './service-events.js'

const wishes = {
  url: Type.String({ maxLength: 2000, description: 'http or https, without user and password' }),
  description: Type.String({ maxLength: 2000 }),
  eventTypes: Type.Array(ServiceEventType, { minItems: 1, uniqueItems: true }),
  isActive: Type.Boolean({
    description: 'Only an active one is told; switching it off ends what still waits',
  }),
}

export const Subscription = Type.Object({
  id: Type.String({ format: 'uuid' }),
  ...wishes,
  createdAt: Type.String({ format: 'date-time' }),
})
export type Subscription = Type.Static<typeof Subscription>

/** The only answer that ever shows the secret itself. */
export const NewSubscription = Type.Object({
  ...Subscription.properties,
  secret: Type.String({ description: '`whsec_…`, which signs what is sent to it; shown this once' }),
})
export type NewSubscription = Type.Static<typeof NewSubscription>

export const SubscriptionToCreate = Type.Object(
  {
    ...wishes,
    description: Type.Optional(wishes.description),
    isActive: Type.Optional(wishes.isActive),
  },
  { additionalProperties: false },
)
export const SubscriptionToUpdate = Type.Partial(Type.Object(wishes), { additionalProperties: false })
