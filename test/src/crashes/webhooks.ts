import type { NodeProcess } from '@automation/launcher'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import type { Step } from '../fixtures/kill-at-step.js'
import { makeTaskRule, readOutcomes, settle } from '../fixtures/outcomes.js'
import { until } from '../fixtures/product.js'
import { makeWebhookSender, type WebhookSender } from '../fixtures/webhook-sender.js'
import type { Scenario, Scene } from './scene.js'

interface Crash {
  step: Step
  title: string
  stored: number
  queued: number
  retry: object
}

const crashes: Crash[] = [
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

export const webhooks: Scenario = {
  title: 'a webhook whose API dies is accepted once',
  async run(t, scene) {
    const worker = await scene.product.startWorker()
    const redis = new Redis(scene.product.redisUrl)
    t.teardown(() => redis.disconnect())
    for (const crash of crashes)
      await t.test(crash.title, (t) => deliverTwice(t, scene, { worker, redis }, crash))

    await t.test('killed after the commit, its event runs though nobody tries again', async (t) => {
      const provider = 'nobody-retries'
      const sender = await openProvider(scene, provider)
      await deliverInto(t, scene, 'after-commit', sender, provider)
      await settle(scene)
      const { receipts, events, tasks } = await readOutcomes(scene, provider)
      t.strictSame(receipts, [{ key: provider, id: events[0] }])
      t.equal(events.length, 1)
      t.strictSame(tasks, [provider])
    })
  },
}

async function deliverTwice(
  t: Test,
  scene: Scene,
  { worker, redis }: { worker: NodeProcess; redis: Redis },
  { step, stored, queued, retry }: Crash,
): Promise<void> {
  const sender = await openProvider(scene, step)
  await until(async () => (await countJobs(redis)) === 0)
  // Nothing that the API leaves behind is touched meanwhile: the sweeper rests, too.
  worker.kill('SIGSTOP')
  await deliverInto(t, scene, step, sender)
  const left = await readOutcomes(scene, step)
  t.equal(left.receipts.length, stored, 'receipts')
  t.equal(left.events.length, stored, 'events')
  t.equal(await countJobs(redis), queued, 'jobs')
  worker.kill('SIGCONT')

  const api = await scene.product.startApi()
  const answer = await sender.deliver(api.baseUrl, webhookOf(step), 1)
  t.match(answer, retry)
  await settle(scene)
  const { receipts, events, tasks } = await readOutcomes(scene, step)
  t.strictSame(receipts, [{ key: step, id: answer?.body.id }])
  t.strictSame(events, [answer?.body.id])
  t.strictSame(tasks, [step])
  await api.stop()
}

async function openProvider(scene: Scene, provider: string): Promise<WebhookSender> {
  await makeTaskRule(scene, provider)
  return makeWebhookSender(scene, provider)
}

/** Delivers a webhook to an API that is killed at a step of it. */
async function deliverInto(
  t: Test,
  { product }: Scene,
  step: Step,
  sender: WebhookSender,
  key: string = step,
): Promise<void> {
  const preload = new URL('../fixtures/kill-at-step.js', import.meta.url).href
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

async function countJobs(redis: Redis): Promise<number> {
  return (await redis.keys('*:automation:????????-????-????-????-????????????')).length
}
