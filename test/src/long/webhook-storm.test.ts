import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { makeTaskRule, readOutcomes, settle } from '../fixtures/outcomes.js'
import { inParallel, startRunningProduct } from '../fixtures/product.js'
import { makeWebhookSender, type WebhookAnswer } from '../fixtures/webhook-sender.js'

const running = await startRunningProduct({ apis: 2 })
t.teardown(() => running.stop())

t.test('1,000 webhooks that come 50 times each, over two APIs at once, are 1,000 events', async (t) => {
  await runStorm(t, { webhooks: 1_000, copies: 50 })
})

t.test('FLUSHALL in the middle of a storm brings no second event, and loses none', async (t) => {
  const redis = new Redis(running.product.redisUrl)
  t.teardown(() => redis.disconnect())
  await runStorm(t, { webhooks: 200, copies: 20, midway: () => redis.flushall() })
})

interface Storm {
  webhooks: number
  copies: number
  midway?: () => Promise<unknown>
}

async function runStorm(t: Test, { webhooks, copies, midway }: Storm) {
  const provider = `storm-of-${webhooks}`
  const sender = await makeWebhookSender(running, provider)
  await makeTaskRule(running, provider)
  const keys = Array.from({ length: webhooks }, (_, number) => `${provider}:${number}`)
  const deliveries = interleave(keys, copies)
  const { apis } = running.product

  const answers: { key: string; answer: WebhookAnswer | undefined }[] = []
  let refused = 0
  let fault: Promise<unknown> | undefined
  await inParallel(deliveries.length, 256, async (index) => {
    if (index === deliveries.length / 2) fault = midway?.()
    const { key, copy } = deliveries[index] as Delivery
    const baseUrl = apis[(index + copy) % apis.length]?.baseUrl ?? ''
    const deliver = () => sender.deliver(baseUrl, { id: key, body: JSON.stringify({ key }) }, copy % 3)
    let answer = await deliver()
    // What senders do after 503: on a busy machine a webhook may get no connection in time.
    for (let attempts = 1; answer?.status === 503 && attempts < 20; attempts++) {
      refused++
      await delay(1_000)
      answer = await deliver()
    }
    answers.push({ key, answer })
  })
  await fault

  const count = (status: number, deduplicated: boolean) =>
    answers.filter(({ answer }) => answer?.status === status && answer.body.deduplicated === deduplicated)
      .length
  const accepted = count(202, false)
  t.ok(
    accepted <= webhooks && accepted >= webhooks - refused,
    `as many are accepted as there are webhooks: ${accepted}, ${refused} refused before`,
  )
  t.equal(count(200, true), webhooks * copies - accepted, 'and every other copy is known')
  const acknowledged = new Set(answers.map(({ key, answer }) => `${key} ${answer?.body.id}`))
  t.equal(acknowledged.size, webhooks, 'all copies of one webhook get the same receipt')

  await settle(running)
  const { receipts, events, tasks } = await readOutcomes(running, provider)
  t.strictSame(
    receipts.map(({ key, id }) => `${key} ${id}`).sort(),
    [...acknowledged].sort(),
    'each has its receipt',
  )
  t.strictSame(events.sort(), receipts.map(({ id }) => id).sort(), 'each receipt has its event')
  t.strictSame(tasks.sort(), keys.sort(), 'each event made its task')
}

interface Delivery {
  key: string
  copy: number
}

/** Ten webhooks at a time, so that many copies of one are under way together; the last fifth of all comes late. */
function interleave(keys: string[], copies: number): Delivery[] {
  const late = copies * 0.8
  const send = (some: string[], from: number, to: number): Delivery[] =>
    Array.from({ length: to - from }, (_, index) => some.map((key) => ({ key, copy: from + index }))).flat()
  const tens = Array.from({ length: keys.length / 10 }, (_, ten) => keys.slice(10 * ten, 10 * ten + 10))
  return [...tens.flatMap((ten) => send(ten, 0, late)), ...send(keys, late, copies)]
}
