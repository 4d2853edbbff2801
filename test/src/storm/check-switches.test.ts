import t from 'tap'
import { checkSwitches } from './check-switches.js'
import type { Tables } from './tables.js'

/** An execution that began to wait, and was cancelled. */
function tellStory() {
  const event = { id: 'e1', workspaceId: 'w1', type: 'LEAD_UPDATED', name: 'switched', isDone: true }
  const execution = { id: 'x1', eventId: 'e1', ruleId: 'r1', status: 'cancelled', attempts: [], effects: 0 }
  const tables: Pick<Tables, 'events' | 'executions' | 'tasks'> = {
    events: [{ ...event, tag: '', tags: 0, causedBy: null, replayOf: null, quarantined: false }],
    executions: [{ ...execution, error: 'The rule was switched off', startedAt: 1, finishedAt: 2 }],
    tasks: [],
  }
  return { violations: [] as string[], tables }
}

type Story = ReturnType<typeof tellStory>

t.test('if all is as it should be, the checker finds nothing', async (t) => {
  const { violations, tables } = tellStory()
  t.strictSame(checkSwitches({ violations }, tables), [])
})

const faults: Record<string, [(story: Story) => void, RegExp]> = {
  'something waited behind a switch-off': [
    ({ violations }) => violations.push('2 executions of r1 wait behind its switch-off'),
    /2 executions of r1 wait/,
  ],
  'something waits in the end': [
    ({ tables }) => Object.assign(tables.executions[0] ?? {}, { status: 'waiting', finishedAt: null }),
    /it is waiting/,
  ],
  'something has gone on': [
    ({ tables }) => tables.tasks.push({ executionId: 'x1', actionIndex: 1, title: 'Never' }),
    /created its task/,
  ],
  'an event is not done': [
    ({ tables }) => Object.assign(tables.events[0] ?? {}, { isDone: false }),
    /not done/,
  ],
}

for (const [title, [spoil, violation]] of Object.entries(faults))
  t.test(`the checker reports: ${title}`, async (t) => {
    const story = tellStory()
    spoil(story)
    const found = checkSwitches(story, story.tables)
    t.equal(found.length, 1)
    t.match(found[0], violation)
  })
