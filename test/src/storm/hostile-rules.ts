import type { RuleToMake } from './rule-book.js'

/** Of 405 to 415 instructions each, which is nearly what a rule may have together. */
const widePatterns = Array.from({ length: 11 }, (_, n) => ({
  field: 'text',
  operator: 'matches',
  value: `(?i)a[ab]{${400 + n}}[cd]`,
}))
const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const tasksOfOne = 20
const emit = { type: 'EMIT_EVENT', config: { eventType: 'LEAD_UPDATED' }, continueOnError: true }
/** No address of this range is allowed, so the call fails at once. */
const refused = { type: 'SEND_WEBHOOK', config: { url: 'http://10.0.0.1/', body: {} } }

/** The rules of the workspace that attacks: what bench/src/neighbours/attacks.ts does, in small. */
export const hostileRules: RuleToMake[] = [
  { name: 'Flood', trigger: 'LEAD_UPDATED', conditions: [], actions: times(20, () => emit) },
  {
    name: 'Wait',
    trigger: 'DEAL_LOST',
    conditions: [],
    actions: [{ type: 'WAIT', config: { duration: '5s' } }, task],
  },
  { name: 'Fail', trigger: 'CONTACT_UPDATED', conditions: [], actions: [task, refused] },
  {
    name: 'Text',
    trigger: 'TAG_ADDED',
    perKey: { key: '{{text}}', atMost: { runs: 1, per: '1s' } },
    conditions: [],
    actions: [{ type: 'CREATE_TASK', config: { title: '{{text | truncate:60}}', description: '{{text}}' } }],
  },
  ...times(5, (n) => ({
    name: `Patterns ${n}`,
    trigger: 'LEAD_CREATED',
    conditions: [{ any: widePatterns }],
    actions: [task],
  })),
  ...times(20, (n) => ({
    name: `Many ${n}`,
    trigger: 'LEAD_DELETED',
    conditions: [],
    actions: times(tasksOfOne, () => task),
  })),
  ...times(8, (n) => ({
    name: `Large ${n}`,
    trigger: 'DEAL_WON',
    conditions: [{ field: 'x', operator: 'in', value: [`${n}`.padEnd(250_000, 'x')] }],
    actions: [task],
  })),
]

/** Rules that are switched off and on all the time. */
export const toggledNames: readonly string[] = ['Flood', 'Wait']

function times<Item>(count: number, make: (n: number) => Item): Item[] {
  return Array.from({ length: count }, (_, n) => make(n))
}
