import { createSealer, createSigningSecret } from '@automation/access'
import type { Database } from '@automation/database'
import type { Product } from '@automation/launcher'
import { readSigningKey } from '@automation/webhooks'
import type { LoadOrder } from '../load/load.js'
import { actor, createWorkspace } from '../workspace.js'
import { body, knownDeliveries, provider, rules } from './scenarios.js'
import { knownId, signDelivery } from './sign-delivery.js'

/** A sender of webhooks, to the product or a yardstick. */
export interface Sender {
  path: string
  headers: Record<string, string>
  secret: string
}

type Delivery = Pick<LoadOrder, 'origins' | 'requests' | 'expectedStatus' | 'signing'>

const deliveredAtOnce = 64

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
  const requests = [{ path, headers, payload: body }]
  return { origins: [origin], requests, signing: { secret }, expectedStatus: 202 }
}

/** Makes the known deliveries, and returns the requests that repeat them. */
export async function deliverKnown(origin: string, sender: Sender): Promise<Delivery> {
  const { path, headers, secret } = sender
  const key = readSigningKey(secret)
  let next = 0
  await Promise.all(
    Array.from({ length: deliveredAtOnce }, async () => {
      while (next < knownDeliveries) {
        const signed = { ...headers, ...signDelivery(key, body, knownId(next++)) }
        const response = await fetch(origin + path, { method: 'POST', headers: signed, body })
        if (response.status !== 202) throw new Error(`Answered ${response.status}: ${await response.text()}`)
        await response.arrayBuffer()
      }
    }),
  )
  return {
    ...deliverNew(origin, sender),
    signing: { secret, knownIds: knownDeliveries },
    expectedStatus: 200,
  }
}
