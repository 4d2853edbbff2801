import type {
  Subscription,
  SubscriptionDelivery,
  SubscriptionDeliveryPage,
  SubscriptionList,
  SubscriptionToCreate,
  SubscriptionToUpdate,
} from '../api.js'
import { type IfTag, matchingTag } from '../if-version.js'
import type { Inputs } from '../operation.js'
import type { Pages } from '../pages.js'
import type { KeyedOptions, RequestOptions, Sender } from '../send.js'
import { withText } from './with-text.js'

const deliveries = 'GET /api/developer/v1/subscriptions/{id}/deliveries'
type DeliveryQuery = NonNullable<Inputs<typeof deliveries>['query']>

/** URLs that receive events about the workspace. */
export class Subscriptions {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Newest first. */
  list(options?: RequestOptions): Pages<Subscription, SubscriptionList> {
    return this.#sender.list('GET /api/developer/v1/subscriptions', 'data', { query: {} }, options)
  }

  /** Only this response contains the `secret` that signs the deliveries. @throws ApiError if it was lost on the way */
  async create(subscription: SubscriptionToCreate, options?: KeyedOptions) {
    const name = 'POST /api/developer/v1/subscriptions'
    return withText(await this.#sender.ask(name, { body: subscription }, options), 'secret')
  }

  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/subscriptions/{id}', { path: { id } }, options)
  }

  /** @param changes any subset of the fields */
  update(id: string, changes: SubscriptionToUpdate, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'PATCH /api/developer/v1/subscriptions/{id}',
      { path: { id }, body: changes },
      matchingTag(options),
    )
  }

  /** Cancels the waiting deliveries and revokes the secrets of the subscription. */
  delete(id: string, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'DELETE /api/developer/v1/subscriptions/{id}',
      { path: { id } },
      matchingTag(options),
    )
  }

  /** Sends a `subscription.ping` to test the subscription. */
  test(id: string, options?: KeyedOptions) {
    return this.#sender.ask('POST /api/developer/v1/subscriptions/{id}/test', { path: { id } }, options)
  }

  /** The deliveries to the subscription with their outcome, newest first. */
  deliveries(
    id: string,
    query: DeliveryQuery = {},
    options?: RequestOptions,
  ): Pages<SubscriptionDelivery, SubscriptionDeliveryPage> {
    return this.#sender.list(deliveries, 'data', { path: { id }, query }, options)
  }
}
