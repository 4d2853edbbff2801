import { createSealer, createSigningSecret } from '@automation/access'
import type { Database } from '@automation/database'
import type { Product } from '@automation/launcher'
import { readSigningKey } from '@automation/webhooks'
import type { LoadOrder } from '../load/load.js'
import { actor, createWorkspace, type Rule } from '../workspace.js'
import { knownId, signDelivery } from './sign-delivery.js'

/** A sender of webhooks, to the product or a yardstick. */
export interface Sender {
  path: string
  headers: Record<string, string>
  secret: string
}

const provider = 'bench'
/** The deliveries that replays repeat, in turn. */
const knownDeliveries = 10_000

/** 512 bytes without a `type` of the catalogue, so that each webhook is one event. */
const body = fillUp(512, { kind: 'order.paid', order: { id: 1001, total: 129.9, currency: 'EUR' } })

/** The usual case: one rule matches and creates a task. */
const rules: Rule[] = [
  {
    name: 'Rule 1',
    trigger: 'WEBHOOK_RECEIVED',
    conditions: [{ field: 'payload.order.total', operator: 'greater_than', value: 100 }],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Pack order {{payload.order.id}}' } }],
  },
]

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

function fillUp(bytes: number, data: object): string {
  const missing = bytes - JSON.stringify({ ...data, note: '' }).length
  return JSON.stringify({ ...data, note: 'x'.repeat(missing) })
}
