import type { Test } from 'tap'
import {
  type Aftermath,
  assertNothingStrays,
  assertRecovery,
  assertWreck,
  type PlannedCrash,
  statuses,
  survive,
} from './aftermath.js'
import type { CrashedRun } from './planned-death.js'
import type { Scenario, Scene } from './scene.js'

const ruleBook = (url: string) => ({
  task: [{ type: 'CREATE_TASK', config: { title: 'Task' } }],
  event: [{ type: 'EMIT_EVENT', config: { eventType: 'TAG_ADDED' } }],
  each: [
    { type: 'EMIT_EVENT', config: { eventType: 'TAG_ADDED', forEach: 'lines', data: { line: '{{item}}' } } },
  ],
  wait: [
    { type: 'WAIT', config: { duration: '1s' } },
    { type: 'CREATE_TASK', config: { title: 'Task' } },
    { type: 'EMIT_EVENT', config: { eventType: 'TAG_ADDED', forEach: 'few', data: { line: '{{item}}' } } },
  ],
  webhook: [{ type: 'SEND_WEBHOOK', config: { url: `${url}/{{crash}}/webhook` } }],
  notification: [
    { type: 'SEND_NOTIFICATION', config: { url: `${url}/{{crash}}/notification`, text: 'Hot' } },
  ],
  mail: [
    { type: 'SEND_EMAIL', config: { to: 'ada@example.com', subject: '{{crash}}/mail', template: 'plain' } },
  ],
  // Its receiver cannot tell a repeat.
  sms: [{ type: 'SEND_WEBHOOK', config: { url: `${url}/{{crash}}/sms` }, onUncertain: 'stop' }],
})

const calling = ['mail', 'notification', 'webhook']
const all = ['task', 'event', 'each', 'wait', ...calling]

const crashes: PlannedCrash[] = [
  {
    title: 'killed before the outcome is committed, a worker has called nobody: another one does it all',
    name: 'before-outcome',
    rules: all,
    at: 'before finish_events',
    leaves: { committed: statuses(all, 'none'), calls: [] },
  },
  {
    title:
      'killed when the outcome and the intents are committed, it has called nobody: others make the calls',
    name: 'after-outcome',
    rules: all,
    at: 'after finish_events',
    leaves: {
      committed: {
        ...statuses(calling, 'running'),
        ...statuses(['task', 'event', 'each'], 'succeeded'),
        wait: 'waiting',
      },
      calls: [],
    },
  },
  {
    title: 'killed during calls, it leaves them to be repeated under their keys',
    name: 'during-calls',
    rules: calling,
    at: 'during calls',
    together: calling,
    leaves: { committed: statuses(calling, 'running'), calls: calling },
    repeated: calling,
  },
  {
    title: 'killed before the results of calls are committed, it leaves them to be repeated under their keys',
    name: 'before-result',
    rules: calling,
    at: 'before record_steps',
    together: calling,
    leaves: { committed: statuses(calling, 'running'), calls: calling },
    repeated: calling,
  },
  {
    title: 'killed when the results are committed, it leaves nothing to be done: no call is made again',
    name: 'after-result',
    rules: calling,
    at: 'after record_steps',
    leaves: { committed: statuses(calling, 'succeeded'), calls: calling },
    settled: calling,
  },
  {
    title: 'killed before a WAIT that has ended is taken up: another worker goes on after it',
    name: 'before-claim',
    rules: ['wait'],
    at: 'before claim_executions',
    leaves: { committed: { wait: 'waiting' }, calls: [] },
  },
  {
    title: 'killed when it was taken up: another worker goes on after it',
    name: 'after-claim',
    rules: ['wait'],
    at: 'after claim_executions',
    leaves: { committed: { wait: 'running' }, calls: [] },
  },
  {
    title: 'killed before what follows a WAIT is committed: it happens once',
    name: 'before-step',
    rules: ['wait'],
    at: 'before record_steps',
    leaves: { committed: { wait: 'running' }, calls: [] },
  },
  {
    title: 'killed when what follows a WAIT is committed: it happens once',
    name: 'after-step',
    rules: ['wait'],
    at: 'after record_steps',
    leaves: { committed: { wait: 'succeeded' }, calls: [] },
  },
]

const unrepeatable: PlannedCrash[] = [
  {
    title: 'killed between the intent and a call that may not be repeated: the call is not made',
    name: 'sms-intended',
    rules: ['sms'],
    at: 'after finish_events',
    leaves: { committed: { sms: 'running' }, calls: [] },
    settled: ['sms'],
  },
  {
    title: 'killed during a call that may not be repeated: the call is not repeated',
    name: 'sms-sent',
    rules: ['sms'],
    at: 'during calls',
    together: ['sms'],
    leaves: { committed: { sms: 'running' }, calls: ['sms'] },
    settled: ['sms'],
  },
]

export const effects: Scenario = {
  title: 'workers that die at any step of any action leave nothing undone, and nothing is done twice',
  async run(t, scene) {
    const planned = [...crashes, ...unrepeatable]
    const aftermaths = await survive(scene, ruleBook(scene.targets.url), planned)
    t.equal(aftermaths.length, planned.length)
    for (const aftermath of aftermaths) {
      const { crash } = aftermath
      if (unrepeatable.includes(crash))
        await t.test(`${crash.title}, and the rule is shown, since nobody knows more`, (t) =>
          assertUnknown(t, scene, aftermath),
        )
      else
        await t.test(crash.title, async (t) => {
          assertWreck(t, aftermath)
          assertRecovery(t, aftermath)
        })
    }
    await t.test('all calls came under their keys, and each run was counted once', (t) =>
      assertNothingStrays(t, scene),
    )
  },
}

async function assertUnknown(t: Test, { client }: Scene, aftermath: Aftermath): Promise<void> {
  assertWreck(t, aftermath)
  const { executionId, ruleId } = aftermath.runs.get('sms') as CrashedRun
  const execution = aftermath.effects.executions.find(({ id }) => id === executionId)
  t.equal(execution?.status, 'failed')
  const results = execution?.results as { status: string; attempts?: unknown[] }[] | undefined
  t.strictSame(
    results?.map(({ status, attempts }) => [status, attempts?.length]),
    [['unknown', 1]],
  )
  const rules = await client.rules.attention().all()
  t.match(
    rules.find(({ id }) => id === ruleId),
    { reason: 'unknown_outcome', failureCount: 1 },
  )
}
