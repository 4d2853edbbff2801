import type {
  Subscription,
  SubscriptionDelivery,
  SubscriptionDeliveryPage,
  SubscriptionList,
  SubscriptionToCreate,
  SubscriptionToUpdate,
} from '../api.js'
import type { Inputs } from '../operation.js'
import { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

const deliveries = 'GET /api/developer/v1/subscriptions/{id}/deliveries'
type DeliveryQuery = NonNullable<Inputs<typeof deliveries>['query']>

/** The URLs that are told what happens in the workspace. */
export class Subscriptions {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Newest first. */
  list(options?: RequestOptions): Pages<Subscription, SubscriptionList> {
    return new Pages(
      () => this.#sender.ask('GET /api/developer/v1/subscriptions', {}, options),
      (list) => list.data,
    )
  }

  /** The `secret` that signs what it is told is shown this once. */
  create(subscription: SubscriptionToCreate, options?: RequestOptions) {
    return this.#sender.ask('POST /api/developer/v1/subscriptions', { body: subscription }, options)
  }

  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/subscriptions/{id}', { path: { id } }, options)
  }

  /** @param changes any subset of the fields */
  update(id: string, changes: SubscriptionToUpdate, options?: RequestOptions) {
    return this.#sender.ask(
      'PATCH /api/developer/v1/subscriptions/{id}',
      { path: { id }, body: changes },
      options,
    )
  }

  /** What waits for it is cancelled, and its secrets are revoked. */
  delete(id: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/subscriptions/{id}', { path: { id } }, options)
  }

  /** Sends it a `subscription.ping`, to see whether it arrives. */
  test(id: string, options?: RequestOptions) {
    return this.#sender.ask('POST /api/developer/v1/subscriptions/{id}/test', { path: { id } }, options)
  }

  /** What was sent to it and what came of it, newest first. */
  deliveries(
    id: string,
    query: DeliveryQuery = {},
    options?: RequestOptions,
  ): Pages<SubscriptionDelivery, SubscriptionDeliveryPage> {
    return new Pages(
      (cursor) => this.#sender.ask(deliveries, { path: { id }, query: { ...query, ...cursor } }, options),
      (page) => page.data,
    )
  }
}
