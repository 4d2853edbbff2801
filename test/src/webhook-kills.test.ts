import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { makeTaskRule, readOutcomes, settle } from './fixtures/outcomes.js'
import { inParallel, startRunningProduct } from './fixtures/product.js'
import { makeWebhookSender, type WebhookAnswer } from './fixtures/webhook-sender.js'

t.setTimeout(180_000)

const webhooks = 300
const kills = 10
const provider = 'killed'

const house = await startRunningProduct({ apis: 2 })
const { product } = house
t.teardown(() => house.stop())

t.test(
  'APIs killed ten times, at random moments of 300 webhooks: each is retried and runs once',
  async (t) => {
    await makeTaskRule(house, provider)
    const sender = await makeWebhookSender(house, provider)
    const keys = Array.from({ length: webhooks }, (_, number) => `${provider}:${number}`)
    const killedAt = pickAtRandom(kills, webhooks)
    const seats = product.apis.map((api) => ({ api, restarted: Promise.resolve() }))
    const answers = new Map<string, WebhookAnswer>()
    let unanswered = 0

    await inParallel(webhooks, 16, async (index) => {
      const key = keys[index] as string
      for (let attempt = 0; !answers.has(key); attempt++) {
        // The other API is there at once, perhaps while the first one's commit is still on its way.
        const seat = seats[(index + attempt) % seats.length] as (typeof seats)[number]
        await seat.restarted
        if (attempt === 0 && killedAt.has(index))
          seat.restarted = seat.restarted.then(() => killAndRestart(seat))
        const webhook = { id: key, body: JSON.stringify({ key }) }
        const answer = await sender.deliver(seat.api.baseUrl, webhook, attempt)
        if (answer) answers.set(key, answer)
        else unanswered++
      }
    })
    await Promise.all(seats.map(({ restarted }) => restarted))
    const count = (status: number) =>
      [...answers.values()].filter((answer) => answer.status === status).length
    t.ok(
      unanswered >= kills,
      `${unanswered} deliveries got no answer, of which ${count(200)} had been accepted`,
    )
    t.equal(count(202) + count(200), webhooks, 'no answer was another one')

    await settle(house)
    const { receipts, events, tasks } = await readOutcomes(house, provider)
    const told = [...answers].map(([key, { body }]) => `${key} ${body.id}`)
    t.strictSame(receipts.map(({ key, id }) => `${key} ${id}`).sort(), told.sort(), 'as each sender was told')
    t.strictSame(events.sort(), receipts.map(({ id }) => id).sort(), 'each receipt has its event')
    t.strictSame(tasks.sort(), keys.sort(), 'each event made its task')
  },
)

async function killAndRestart(seat: { api: (typeof product.apis)[number] }): Promise<void> {
  await delay(Math.random() * 20)
  seat.api.kill('SIGKILL')
  await seat.api.exited
  seat.api = await product.startApi()
}

function pickAtRandom(count: number, below: number): Set<number> {
  const picked = new Set<number>()
  while (picked.size < count) picked.add(Math.floor(Math.random() * below))
  return picked
}
