import t from 'tap'
import { checkEdits, type EditedTables } from './check-edits.js'
import type { AcknowledgedEdit, RoleChange } from './edits.js'

/** A rule that was changed once, a key, a replay and a member, all as they should be. */
function tellStory() {
  const acknowledged: AcknowledgedEdit[] = [
    { kind: 'rule', id: 'r1', version: 1, description: 'first' },
    { kind: 'rule', id: 'r1', version: 2, description: 'second' },
    { kind: 'key', id: 'k1' },
    { kind: 'replay', id: 'e2', replayOf: 'e1' },
  ]
  const changes: RoleChange[] = [
    { role: 'viewer', isAccepted: true },
    { role: 'editor', isAccepted: true },
    { role: 'operator', isAccepted: false },
  ]
  const tables: EditedTables = {
    versions: [
      { ruleId: 'r1', version: 1, description: 'first' },
      { ruleId: 'r1', version: 2, description: 'second' },
    ],
    keys: ['k1'],
    members: [{ workspaceId: 'w1', userId: 'u1', role: 'editor' }],
    events: [
      { id: 'e1', replayOf: null },
      { id: 'e2', replayOf: 'e1' },
    ],
  }
  return { acknowledged, changes, tables }
}

type Story = ReturnType<typeof tellStory>

function check({ acknowledged, changes, tables }: Story): string[] {
  return checkEdits({ acknowledged, roles: new Map([['w1 u1', changes]]) }, tables)
}

t.test('where all is as it should be, the checker finds nothing', async (t) => {
  t.strictSame(check(tellStory()), [])
})

t.test('of changes without an answer, each may stand or not', async (t) => {
  const story = tellStory()
  Object.assign(story.tables.members[0] ?? {}, { role: 'operator' })
  t.strictSame(check(story), [])
})

const faults: Record<string, [(story: Story) => void, RegExp]> = {
  'a change of a rule is gone': [({ tables }) => tables.versions.splice(1, 1), /"version":2.* is not there/],
  'a change of a rule is that of somebody else': [
    ({ tables }) => Object.assign(tables.versions[1] ?? {}, { description: 'third' }),
    /"version":2.* is not there/,
  ],
  'a key is gone': [({ tables }) => tables.keys.splice(0, 1), /"k1".* is not there/],
  'a replay is gone': [({ tables }) => tables.events.splice(1, 1), /"e2".* is not there/],
  'a replay is one of another event': [
    ({ tables }) => Object.assign(tables.events[1] ?? {}, { replayOf: 'e3' }),
    /"e2".* is not there/,
  ],
  'a member is gone': [({ tables }) => tables.members.splice(0, 1), /w1 u1 is undefined/],
  'a member has an earlier role': [
    ({ tables }) => Object.assign(tables.members[0] ?? {}, { role: 'viewer' }),
    /is viewer, and was to be editor or operator/,
  ],
}

for (const [title, [spoil, violation]] of Object.entries(faults)) {
  t.test(`the checker reports: ${title}`, async (t) => {
    const story = tellStory()
    spoil(story)
    const violations = check(story)
    t.equal(violations.length, 1)
    t.match(violations[0], violation)
  })
}
