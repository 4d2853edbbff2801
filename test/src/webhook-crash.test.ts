import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import type { Step } from './fixtures/kill-at-step.js'
import { makeTaskRule, readOutcomes, settle } from './fixtures/outcomes.js'
import { startRunningProduct, until } from './fixtures/product.js'
import { makeWebhookSender, type WebhookSender } from './fixtures/webhook-sender.js'

const running = await startRunningProduct()
const { product } = running
t.teardown(() => running.stop())
const redis = new Redis(product.redisUrl)
t.teardown(() => redis.disconnect())

const crashes: { step: Step; title: string; stored: number; queued: number; retry: object }[] = [
  {
    step: 'before-commit',
    title: 'killed before the commit, an API has stored nothing: the retry is the first',
    stored: 0,
    queued: 0,
    retry: { status: 202, body: { deduplicated: false } },
  },
  {
    step: 'after-commit',
    title: 'killed after the commit and before the response, it has accepted: the retry is a duplicate',
    stored: 1,
    queued: 0,
    retry: { status: 200, body: { deduplicated: true } },
  },
  {
    step: 'after-enqueue',
    title: 'killed after the job was added, before the answer: the retry is known',
    stored: 1,
    queued: 1,
    retry: { status: 200, body: { deduplicated: true } },
  },
]

for (const { step, title, stored, queued, retry } of crashes) {
  t.test(title, async (t) => {
    const sender = await openProvider(step)
    await pauseWorker(async () => {
      await deliverInto(t, step, sender)
      const { receipts, events } = await readOutcomes(running, step)
      t.equal(receipts.length, stored, 'receipts')
      t.equal(events.length, stored, 'events')
      t.equal(await countJobs(), queued, 'jobs')
    })
    const api = await product.startApi()
    const answer = await sender.deliver(api.baseUrl, webhookOf(step), 1)
    t.match(answer, retry)
    await settle(running)
    const { receipts, events, tasks } = await readOutcomes(running, step)
    t.strictSame(receipts, [{ key: step, id: answer?.body.id }])
    t.strictSame(events, [answer?.body.id])
    t.strictSame(tasks, [step])
    await api.stop()
  })
}

t.test('killed after the commit, its event runs though nobody tries again', async (t) => {
  const provider = 'nobody-retries'
  const sender = await openProvider(provider)
  await deliverInto(t, 'after-commit', sender, provider)
  await settle(running)
  const { receipts, events, tasks } = await readOutcomes(running, provider)
  t.strictSame(receipts, [{ key: provider, id: events[0] }])
  t.equal(events.length, 1)
  t.strictSame(tasks, [provider])
})

async function openProvider(provider: string): Promise<WebhookSender> {
  await makeTaskRule(running, provider)
  return makeWebhookSender(running, provider)
}

/** Delivers a webhook to an API that is killed at a step of it. */
async function deliverInto(t: Test, step: Step, sender: WebhookSender, key: string = step): Promise<void> {
  const preload = new URL('./fixtures/kill-at-step.js', import.meta.url).href
  const api = await product.startApi({
    KILL_AT: step,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${preload}`,
  })
  t.equal(await sender.deliver(api.baseUrl, webhookOf(key)), undefined, 'the sender gets no answer')
  t.match(await api.exited, { signal: 'SIGKILL' })
}

function webhookOf(key: string) {
  return { id: key, body: JSON.stringify({ key }) }
}

/** Nothing that the API leaves behind is touched meanwhile: the sweeper rests, too. */
async function pauseWorker(work: () => Promise<void>): Promise<void> {
  await until(async () => (await countJobs()) === 0)
  product.workers[0]?.kill('SIGSTOP')
  await work()
  product.workers[0]?.kill('SIGCONT')
}

async function countJobs(): Promise<number> {
  return (await redis.keys('*:automation:????????-????-????-????-????????????')).length
}
