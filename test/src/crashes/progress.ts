import { assertNothingStrays, assertRecovery, assertWreck, type PlannedCrash, survive } from './aftermath.js'
import { failingOnce } from './planned-death.js'
import type { Scenario } from './scene.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const ruleBook = (url: string) => ({
  retrying: [
    {
      type: 'SEND_WEBHOOK',
      config: { url: `${url}/{{crash}}/${failingOnce}` },
      retry: { attempts: 3, delayMs: 0 },
    },
  ],
  mixed: [
    task,
    { type: 'SEND_WEBHOOK', config: { url: `${url}/{{crash}}/webhook` } },
    task,
    { type: 'SEND_EMAIL', config: { to: 'ada@example.com', subject: '{{crash}}/mail', template: 'plain' } },
    { type: 'EMIT_EVENT', config: { eventType: 'TAG_ADDED' } },
  ],
})

const once = [failingOnce]
const twice = [failingOnce, failingOnce]
const both = ['mail', 'webhook']

const crashes: PlannedCrash[] = [
  {
    title: 'killed before it is committed that an attempt has failed: it is made again',
    name: 'before-failure',
    rules: ['retrying'],
    at: 'before record_steps',
    leaves: { committed: { retrying: 'running' }, calls: once },
    repeated: once,
  },
  {
    title: 'killed when it is committed, and nobody was told to try again: the sweeper does',
    name: 'after-failure',
    rules: ['retrying'],
    at: 'after record_steps',
    leaves: { committed: { retrying: 'retrying' }, calls: once },
  },
  {
    title: 'killed before the next attempt is taken up: another worker makes it',
    name: 'before-claim',
    rules: ['retrying'],
    at: 'before claim_executions',
    leaves: { committed: { retrying: 'retrying' }, calls: once },
  },
  {
    title: 'killed when it was taken up: another worker makes it',
    name: 'after-claim',
    rules: ['retrying'],
    at: 'after claim_executions',
    leaves: { committed: { retrying: 'running' }, calls: once },
  },
  {
    title: 'killed before the intent of the next attempt is committed: another worker makes it',
    name: 'before-next-attempt',
    rules: ['retrying'],
    at: 'before record_steps',
    time: 2,
    leaves: { committed: { retrying: 'running' }, calls: once },
  },
  {
    title: 'killed when the intent of the next attempt is committed: another worker makes it',
    name: 'after-next-attempt',
    rules: ['retrying'],
    at: 'after record_steps',
    time: 2,
    leaves: { committed: { retrying: 'running' }, calls: once },
  },
  {
    title: 'killed during the next attempt: it is repeated',
    name: 'during-next-attempt',
    rules: ['retrying'],
    at: 'during calls',
    time: 2,
    together: once,
    leaves: { committed: { retrying: 'running' }, calls: twice },
    repeated: once,
  },
  {
    title: 'killed before the result of the next attempt is committed: it is repeated',
    name: 'before-success',
    rules: ['retrying'],
    at: 'before record_steps',
    time: 3,
    leaves: { committed: { retrying: 'running' }, calls: twice },
    repeated: once,
  },
  {
    title: 'killed when the result of the next attempt is committed: no attempt is made any more',
    name: 'after-success',
    rules: ['retrying'],
    at: 'after record_steps',
    time: 3,
    leaves: { committed: { retrying: 'succeeded' }, calls: twice },
    settled: once,
  },
  {
    title: 'killed during the first call of several actions: what came before it is not done again',
    name: 'during-webhook',
    rules: ['mixed'],
    at: 'during calls',
    together: ['webhook'],
    leaves: { committed: { mixed: 'running' }, calls: ['webhook'] },
    repeated: ['webhook'],
  },
  {
    title:
      'killed before its result and the intent of the next call are committed: the next call was not made',
    name: 'before-next-intent',
    rules: ['mixed'],
    at: 'before record_steps',
    leaves: { committed: { mixed: 'running' }, calls: ['webhook'] },
    repeated: ['webhook'],
  },
  {
    title: 'killed when they are committed: the first call is not repeated, and the next one is made',
    name: 'after-next-intent',
    rules: ['mixed'],
    at: 'after record_steps',
    leaves: { committed: { mixed: 'running' }, calls: ['webhook'] },
    settled: ['webhook'],
  },
  {
    title: 'killed during the next call: it alone is repeated',
    name: 'during-mail',
    rules: ['mixed'],
    at: 'during calls',
    together: ['mail'],
    leaves: { committed: { mixed: 'running' }, calls: both },
    repeated: ['mail'],
    settled: ['webhook'],
  },
  {
    title:
      'killed before the last result is committed: its call alone is repeated, and what follows happens once',
    name: 'before-end',
    rules: ['mixed'],
    at: 'before record_steps',
    time: 2,
    leaves: { committed: { mixed: 'running' }, calls: both },
    repeated: ['mail'],
    settled: ['webhook'],
  },
  {
    title: 'killed when the last result is committed: nothing is left to be done',
    name: 'after-end',
    rules: ['mixed'],
    at: 'after record_steps',
    time: 2,
    leaves: { committed: { mixed: 'succeeded' }, calls: both },
    settled: both,
  },
]

export const progress: Scenario = {
  title:
    'workers that die between attempts and between actions leave nothing undone, and nothing is done twice',
  async run(t, scene) {
    for (const aftermath of await survive(scene, ruleBook(scene.targets.url), crashes))
      await t.test(aftermath.crash.title, async (t) => {
        assertWreck(t, aftermath)
        assertRecovery(t, aftermath)
      })
    await t.test('all calls came under their keys, and each run was counted once', (t) =>
      assertNothingStrays(t, scene),
    )
  },
}
