import t from 'tap'
import { checkEffects } from './check-effects.js'
import { checkRecord } from './check-record.js'
import type { SentEvent } from './load.js'
import { listTags, type StoredRule } from './rule-book.js'
import type { Tables } from './tables.js'
import type { Target } from './target.js'

/** A call, an emitted event and a task, all as they should be. */
function tellStory() {
  const sent: SentEvent = {
    event: {
      name: 'event-1',
      workspace: 0,
      route: 'trigger',
      type: 'DEAL_WON',
      tags: 7,
      becomes: ['DEAL_WON'],
      isKeyed: true,
      isSync: false,
      copy: undefined,
    },
    outcomes: [{ kind: 'ok', status: 202, id: 'e1', at: 0 }],
  }
  const rule: StoredRule = {
    id: 'r1',
    workspaceId: 'w1',
    name: 'Call',
    trigger: 'DEAL_WON',
    conditions: [],
    actions: [
      { type: 'SEND_WEBHOOK', config: {} },
      { type: 'EMIT_EVENT', config: {} },
      { type: 'CREATE_TASK', config: {} },
    ],
  }
  const event = {
    workspaceId: 'w1',
    name: 'event-1',
    tag: '',
    tags: 7,
    replayOf: null,
    isDone: true,
    quarantined: false,
  }
  const tables: Tables = {
    events: [
      { ...event, id: 'e1', type: 'DEAL_WON', causedBy: null },
      { ...event, id: 'e2', type: 'TAG_ADDED', causedBy: 'x1' },
    ],
    executions: [
      {
        id: 'x1',
        eventId: 'e1',
        ruleId: 'r1',
        status: 'succeeded',
        error: null,
        attempts: [2, null, null],
        effects: 2,
        startedAt: 1,
        finishedAt: 2,
      },
    ],
    tasks: [{ executionId: 'x1', actionIndex: 2, title: 'event-1' }],
    receipts: [],
    counters: [{ ruleId: 'r1', successCount: 1, failureCount: 0 }],
  }
  const called = { names: new Set(['event-1']), bodies: new Set(['{}']), count: 2, welcome: 1 }
  const target: Pick<Target, 'calls'> = { calls: new Map([['x1:0', called]]) }
  return { sent, rule, tables, called, target }
}

type Story = ReturnType<typeof tellStory>

function check({ sent, rule, tables, target }: Story): string[] {
  return [...checkRecord([sent], tables, ['w1']), ...checkEffects(tables, [rule], target)]
}

t.test('where all is as it should be, the checker finds nothing', async (t) => {
  t.strictSame(check(tellStory()), [])
})

/** Faults, and the violations that the checker reports. */
const faults: Record<string, [(story: Story) => void, RegExp]> = {
  'an acknowledged event is gone': [
    ({ tables }) => tables.events.splice(0, 1),
    /there are 0 events DEAL_WON/,
  ],
  'an event came twice under its key': [
    ({ tables }) => tables.events.push({ ...(tables.events[0] as Tables['events'][0]), id: 'e3' }),
    /there are 2 events DEAL_WON/,
  ],
  'what was refused is there': [
    ({ sent }) => sent.outcomes.splice(0, 1, { kind: 'failed', status: undefined, id: undefined, at: 0 }),
    /there are 1 events DEAL_WON/,
  ],
  'two callers got two ids': [
    ({ sent }) => sent.outcomes.push({ kind: 'ok', status: 202, id: 'e9', at: 0 }),
    /got the ids e1 and e9/,
  ],
  'it was refused for no reason': [
    ({ sent }) => sent.outcomes.push({ kind: 'failed', status: 422, id: undefined, at: 0 }),
    /refused with 422/,
  ],
  'it is nobody’s': [({ sent }) => Object.assign(sent.event, { name: 'event-2' }), /nobody has sent it/],
  'it is not done': [
    ({ tables }) => Object.assign(tables.events[0] ?? {}, { isDone: false }),
    /it is not done/,
  ],
  'it is quarantined': [
    ({ tables }) => Object.assign(tables.events[0] ?? {}, { quarantined: true }),
    /it is quarantined/,
  ],
  'a rule ran twice': [
    ({ tables }) =>
      tables.executions.push({ ...(tables.executions[0] as Tables['executions'][0]), id: 'x2' }),
    /2 executions of Call/,
  ],
  'a rule ran that was not to': [
    ({ rule }) => rule.conditions.push({ field: 'name', operator: 'equals', value: 'nobody' }),
    /1 executions of Call/,
  ],
  'it failed': [
    ({ tables }) => Object.assign(tables.executions[0] ?? {}, { status: 'failed' }),
    /failed: null/,
  ],
  'its task is missing': [({ tables }) => tables.tasks.splice(0, 1), /0 tasks at 2/],
  'its task is there twice': [
    ({ tables }) => tables.tasks.push({ executionId: 'x1', actionIndex: 2, title: 'event-1' }),
    /2 tasks/,
  ],
  'a task is nobody’s': [
    ({ tables }) => tables.tasks.push({ executionId: 'x2', actionIndex: 2, title: 'event-1' }),
    /of no execution/,
  ],
  'it emitted an item twice and another one not': [
    ({ rule, tables }) => {
      Object.assign(rule.actions[1] ?? {}, { config: { forEach: 'tags' } })
      const [, emitted] = tables.events as [unknown, Tables['events'][0]]
      const all = [...listTags(7).slice(1), 'tag-1'].map((tag, n) => ({
        ...emitted,
        id: `e${n + 2}`,
        tag,
      }))
      tables.events.splice(1, 1, ...all)
    },
    /7 emitted events/,
  ],
  'it emitted twice': [
    ({ tables }) => tables.events.push({ ...(tables.events[1] as Tables['events'][0]), id: 'e3' }),
    /2 emitted events/,
  ],
  'nobody was called': [({ target }) => target.calls.clear(), /no call at 0/],
  'its call was refused each time': [
    ({ called }) => Object.assign(called, { welcome: 0 }),
    /only ever refused/,
  ],
  'a repeat came under another key': [
    ({ target, called }) => target.calls.set('x1:0:2', called),
    /called under x1:0 and x1:0:2/,
  ],
  'a repeat had another body': [({ called }) => called.bodies.add('[]'), /2 bodies/],
  'a call was made before it was noted': [
    ({ called }) => Object.assign(called, { count: 3 }),
    /3 calls, of which 2/,
  ],
  'a counter is wrong': [
    ({ tables }) => Object.assign(tables.counters[0] ?? {}, { successCount: 2 }),
    /counts 2 and 0/,
  ],
  'counters are gone': [
    ({ tables }) => tables.counters.splice(0, 1),
    /counts 0 and 0, and there are 1 and 0/,
  ],
}

for (const [title, [spoil, violation]] of Object.entries(faults)) {
  t.test(`the checker reports: ${title}`, async (t) => {
    const story = tellStory()
    spoil(story)
    t.ok(
      check(story).some((text) => violation.test(text)),
      check(story).join('\n') || 'no violation',
    )
  })
}
