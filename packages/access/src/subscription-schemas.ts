import { Type } from 'typebox'
import { textOnce } from './credential.js'
import { ServiceEventType } from './service-events.js'

const fields = {
  url: Type.String({ maxLength: 2000, description: 'http or https, without user and password' }),
  description: Type.String({ maxLength: 2000 }),
  eventTypes: Type.Array(ServiceEventType, { minItems: 1, uniqueItems: true }),
  isActive: Type.Boolean({
    description:
      'Only an active subscription receives deliveries. Switching it off cancels the waiting ones.',
  }),
}

export const Subscription = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    ...fields,
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Subscription' },
)
export type Subscription = Type.Static<typeof Subscription>

/** The only response that contains the secret. */
export const NewSubscription = Type.Object(
  {
    ...Subscription.properties,
    ...textOnce('secret', '`whsec_…`. It signs the deliveries.'),
  },
  { title: 'NewSubscription' },
)
export type NewSubscription = Subscription & { secret: string }

export const SubscriptionToCreate = Type.Object(
  {
    ...fields,
    description: Type.Optional(fields.description),
    isActive: Type.Optional(fields.isActive),
  },
  { additionalProperties: false, title: 'SubscriptionToCreate' },
)
export const SubscriptionToUpdate = Type.Partial(Type.Object(fields), {
  additionalProperties: false,
  title: 'SubscriptionToUpdate',
})
