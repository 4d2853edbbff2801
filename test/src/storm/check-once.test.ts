import t from 'tap'
import { checkOnce, type OnceTables } from './check-once.js'
import type { OnceEvent } from './once.js'
import type { HappenedFault } from './schedule.js'
import type { Target } from './target.js'

/** An event and its one call, all as it should be, beside a fault in which no call is lost. */
function tellStory() {
  const sent: OnceEvent[] = [{ name: 'once-0', isAcknowledged: true }]
  const event = {
    workspaceId: 'w1',
    type: 'DEAL_LOST',
    tag: '',
    tags: 0,
    causedBy: null,
    replayOf: null,
    quarantined: false,
  }
  const execution = { ruleId: 'r1', status: 'succeeded', error: null, attempts: [1], effects: 0 }
  const tables: OnceTables = {
    events: [{ ...event, id: 'e1', name: 'once-0', isDone: true }],
    executions: [{ ...execution, id: 'x1', eventId: 'e1', startedAt: 10_000, finishedAt: 20_000 }],
  }
  const call = { names: new Set(['once-0']), bodies: new Set(['{}']), count: 1, welcome: 1 }
  const target: Pick<Target, 'calls'> = { calls: new Map([['x1:0', call]]) }
  const kind = { name: 'response lost', weight: 1, targets: [], run: async () => {} }
  const fault: HappenedFault = { kind, from: 12_000, to: 13_000 }
  return { sent, tables, target, call, fault }
}

type Story = ReturnType<typeof tellStory>

function check({ sent, tables, target, fault }: Story): string[] {
  return checkOnce(sent, tables, target, [fault])
}

function executionOf({ tables }: Story) {
  return tables.executions[0] as OnceTables['executions'][0]
}

function loseCall(story: Story): void {
  Object.assign(executionOf(story), { status: 'failed', error: 'unknown' })
  story.target.calls.clear()
}

t.test('if all is as it should be, the checker finds nothing', async (t) => {
  t.strictSame(check(tellStory()), [])
})

t.test('a call may be lost with its worker, and not at another time', async (t) => {
  const story = tellStory()
  loseCall(story)
  story.fault.kind = { ...story.fault.kind, losesCalls: true }
  t.strictSame(check(story), [])
  for (const [from, to] of [
    [1_000, 2_000],
    [21_000, 22_000],
  ]) {
    Object.assign(story.fault, { from, to })
    t.equal(check(story).length, 1)
  }
})

const faults: Record<string, [(story: Story) => void, RegExp]> = {
  'its call was not made, and its worker lived': [loseCall, /0 calls and is failed .* no worker was lost/],
  'its call was made, and its worker did not know': [
    (story) => Object.assign(executionOf(story), { status: 'failed', error: 'unknown' }),
    /1 calls and is failed/,
  ],
  'it was called twice': [({ call }) => Object.assign(call, { count: 2 }), /called 2 times/],
  'it has succeeded without a call': [({ target }) => target.calls.clear(), /succeeded without a call/],
  'it has not ended': [
    (story) => Object.assign(executionOf(story), { status: 'running', finishedAt: null }),
    /it is running/,
  ],
  'it has no execution': [({ tables }) => tables.executions.splice(0, 1), /0 executions/],
  'it was acknowledged, and is gone': [({ tables }) => tables.events.splice(0, 1), /there are 0 events/],
}

for (const [title, [spoil, violation]] of Object.entries(faults))
  t.test(`the checker reports: ${title}`, async (t) => {
    const story = tellStory()
    spoil(story)
    const violations = check(story)
    t.equal(violations.length, 1)
    t.match(violations[0], violation)
  })
