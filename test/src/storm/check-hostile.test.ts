import t from 'tap'
import { checkHostile, countDescendants, type HostileTables, mostDescendants } from './check-hostile.js'
import type { HostileEvent } from './hostile.js'
import type { StoredRule } from './rule-book.js'

/** An event whose rule emits one of the same type and creates a task, all as it should be. */
function tellStory() {
  const sent: HostileEvent[] = [{ name: 'hostile-1', type: 'LEAD_DELETED', outcome: 'ok', id: 'e1' }]
  const actions = [
    { type: 'EMIT_EVENT', config: {} },
    { type: 'CREATE_TASK', config: {} },
  ]
  const rule = { id: 'r1', workspaceId: 'w1', name: 'Many', trigger: 'LEAD_DELETED', conditions: [], actions }
  const flood = { ...rule, id: 'r2', name: 'Flood', trigger: 'LEAD_UPDATED' }
  const event = {
    workspaceId: 'w1',
    name: 'hostile-1',
    tag: '',
    tags: 0,
    replayOf: null,
    isDone: true,
    quarantined: false,
  }
  const execution = { status: 'succeeded', error: null, attempts: [], startedAt: 1, finishedAt: 2 }
  const tables: HostileTables = {
    events: [
      { ...event, id: 'e1', type: 'LEAD_DELETED', causedBy: null },
      { ...event, id: 'e2', type: 'LEAD_UPDATED', causedBy: 'x1' },
    ],
    executions: [{ ...execution, id: 'x1', eventId: 'e1', ruleId: 'r1', effects: 2 }],
    tasks: [{ executionId: 'x1', actionIndex: 1, title: 'Task' }],
    counters: [{ ruleId: 'r1', successCount: 1, failureCount: 0 }],
  }
  return { sent, rules: [rule, flood] as StoredRule[], tables }
}

type Story = ReturnType<typeof tellStory>
type Event = HostileTables['events'][0]
type Execution = HostileTables['executions'][0]

function check({ sent, tables, rules }: Story): string[] {
  return checkHostile(sent, tables, rules)
}

const eventOf = ({ tables }: Story, index = 0) => tables.events[index] as Event
const executionOf = ({ tables }: Story) => tables.executions[0] as Execution

t.test('where all is as it should be, the checker finds nothing', async (t) => {
  t.strictSame(check(tellStory()), [])
})

t.test('an event that is quarantined needs no execution', async (t) => {
  const story = tellStory()
  Object.assign(eventOf(story), { quarantined: true })
  Object.assign(story.tables, { executions: [], tasks: [], counters: [], events: [eventOf(story)] })
  t.strictSame(check(story), [])
})

t.test('descendants are counted over all events between, also those of other branches', async (t) => {
  const { tables } = tellStory()
  tables.executions.push({ ...(tables.executions[0] as Execution), id: 'x2', eventId: 'e2', ruleId: 'r2' })
  for (const id of ['e3', 'e4']) tables.events.push({ ...(tables.events[1] as Event), id, causedBy: 'x2' })
  t.strictSame([...countDescendants(tables)], [['e1', 3]])
})

/** Faults, and the violations that the checker reports. */
const faults: Record<string, [(story: Story) => unknown, RegExp]> = {
  'an acknowledged event is gone': [
    ({ sent }) => sent.push({ ...first(sent), name: 'hostile-2' }),
    /are 0 events/,
  ],
  'an acknowledged event has another id': [({ sent }) => Object.assign(first(sent), { id: 'e9' }), /e9 was/],
  'what was refused is there': [
    ({ sent }) => Object.assign(first(sent), { outcome: 'failed' }),
    /are 1 events/,
  ],
  'an event is nobody’s': [({ sent }) => sent.pop(), /nobody has sent it/],
  'an event is not done': [(story) => Object.assign(eventOf(story), { isDone: false }), /it is not done/],
  'a poison event has run': [(story) => Object.assign(eventOf(story), { quarantined: true }), /and has run/],
  'a rule did not run': [
    ({ rules }) => rules.push({ ...(rules[0] as StoredRule), id: 'r3' }),
    /no execution of Many/,
  ],
  'a rule ran twice': [
    (story) => story.tables.executions.push({ ...executionOf(story), id: 'x2' }),
    /2 executions of Many/,
  ],
  'a rule ran that is not its': [
    (story) => story.tables.executions.push({ ...executionOf(story), id: 'x2', ruleId: 'r2' }),
    /not its/,
  ],
  'an execution has not ended': [
    (story) => Object.assign(executionOf(story), { status: 'waiting' }),
    /is waiting/,
  ],
  'its task is there twice': [
    ({ tables }) => tables.tasks.push({ executionId: 'x1', actionIndex: 1, title: 'Task' }),
    /two tasks/,
  ],
  'its task is missing': [({ tables }) => tables.tasks.pop(), /succeeded with 0 tasks/],
  'an action emitted twice': [
    (story) => story.tables.events.push({ ...eventOf(story, 1), id: 'e3' }),
    /emitted 2 events/,
  ],
  'an emitted event is gone': [
    ({ tables }) => tables.events.pop(),
    /1 tasks and 0 events, and its results say 2/,
  ],
  'a task is of no execution': [
    ({ tables }) => tables.tasks.push({ executionId: 'x9', actionIndex: 1, title: 'Task' }),
    /of no execution x9/,
  ],
  'one event causes too many others': [
    (story) => {
      for (let n = 0; n < mostDescendants; n++)
        story.tables.events.push({ ...eventOf(story, 1), id: `more-${n}` })
    },
    /e1 has caused 2001 others/,
  ],
  'a counter is wrong': [
    ({ tables }) => Object.assign(tables.counters[0] ?? {}, { successCount: 2 }),
    /counts 2 and 0/,
  ],
}

for (const [title, [spoil, violation]] of Object.entries(faults)) {
  t.test(`the checker reports: ${title}`, async (t) => {
    const story = tellStory()
    spoil(story)
    const violations = check(story)
    t.ok(
      violations.some((text) => violation.test(text)),
      violations.join('\n') || 'no violation',
    )
  })
}

function first(sent: HostileEvent[]): HostileEvent {
  return sent[0] as HostileEvent
}
