import type { Delivered } from './api.js'
import type { RequestOptions, Sender } from './send.js'
import { signWebhook } from './sign-webhook.js'
import { writeBody } from './write-body.js'

export interface Webhook {
  provider: string
  /** Id of the event at the provider: 1 to 255 letters, digits, `_`, `:` or `-`. The API accepts it once. */
  id: string
  /** `{ type, data }` with a known event type becomes that event. Text and bytes are sent unchanged. */
  body: unknown
  /** X-Signature-Id. */
  secretId: string
  /** `whsec_…` */
  secret: string
}

export class Webhooks {
  readonly #sender: Sender
  readonly #workspaceId: string | undefined

  constructor(sender: Sender, workspaceId: string | undefined) {
    this.#sender = sender
    this.#workspaceId = workspaceId
  }

  /** Signs a webhook and delivers it as another system would, without token or API key. A repeated delivery is `deduplicated`. */
  async deliver(webhook: Webhook, options?: RequestOptions): Promise<Delivered> {
    const workspaceId = this.#workspaceId
    if (workspaceId === undefined) throw new TypeError('createClient needs a workspaceId')
    const { provider, id, secretId, secret } = webhook
    const body = isRaw(webhook.body) ? webhook.body : writeBody(webhook.body)
    return this.#sender.ask(
      'POST /api/incoming-webhooks/{provider}/{workspaceId}',
      { path: { provider, workspaceId } },
      {
        ...options,
        rawBody: body,
        // The API accepts each id once.
        isRepeatable: true,
        bucket: 'webhooks',
        async headers() {
          const timestamp = String(Math.floor(Date.now() / 1_000))
          return {
            'x-idempotency-key': id,
            'x-timestamp': timestamp,
            'x-signature-id': secretId,
            'x-signature': await signWebhook({ secret, id, timestamp, body }),
          }
        },
      },
    )
  }
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array
}
