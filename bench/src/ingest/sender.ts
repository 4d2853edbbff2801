import { createSealer, createSigningSecret } from '@automation/access'
import type { Database } from '@automation/database'
import type { Product } from '@automation/launcher'
import { readSigningKey } from '@automation/webhooks'
import type { LoadOrder } from '../load.js'
import { actor, createWorkspace } from '../workspace.js'
import { body, provider, rules } from './scenarios.js'
import { signDelivery } from './sign-delivery.js'

/** A sender of webhooks, to the product or the yardstick. */
export interface Sender {
  path: string
  headers: Record<string, string>
  secret: string
}

type Delivery = Pick<
  LoadOrder,
  'origins' | 'path' | 'headers' | 'payload' | 'expectedStatus' | 'signingSecret'
>

/** A provider with its own workspace and a signing secret of the product. */
export async function createSender(database: Database, product: Product): Promise<Sender> {
  const { id: workspaceId } = await createWorkspace(database, product, { name: 'Ingestion', rules })
  const administrator = { database, workspaceId, actor }
  const sealer = createSealer(product.encryptionKey)
  const { id, secret } = await createSigningSecret(administrator, sealer, { provider })
  return {
    path: `/api/incoming-webhooks/${provider}/${workspaceId}`,
    headers: { 'content-type': 'application/json', 'x-signature-id': id },
    secret,
  }
}

/** Requests for deliveries that are all new. */
export function deliverNew(origin: string, { path, headers, secret }: Sender): Delivery {
  return { origins: [origin], path, headers, payload: body, signingSecret: secret, expectedStatus: 202 }
}

/** Makes one delivery, and returns the request for its replays. */
export async function replayOne(origin: string, { path, headers, secret }: Sender): Promise<Delivery> {
  const signed = { ...headers, ...signDelivery(readSigningKey(secret), body) }
  const response = await fetch(origin + path, { method: 'POST', headers: signed, body })
  if (response.status !== 202) throw new Error(`Answered ${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
  return { origins: [origin], path, headers: signed, payload: body, expectedStatus: 200 }
}
