import { setTimeout as delay } from 'node:timers/promises'
import type { Tenant } from '../fixtures/product.js'

/** Before the storm. On a busy machine the API may ask to come again. @returns its id @throws if it is no rule */
export async function createRule({ call }: Pick<Tenant, 'call'>, rule: object): Promise<string> {
  for (;;) {
    const { status, body } = await call('POST', '/api/automation-rules', rule)
    if (status === 201) return body.id
    if (status !== 503) throw new Error(`${JSON.stringify(rule)} is no rule: ${JSON.stringify(body)}`)
    await delay(200)
  }
}
