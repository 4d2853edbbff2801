import t from 'tap'
import type { Sample, SampleVerdict } from '../../pages/logic/evaluate-definition.js'
import { listSampleBatches } from '../../pages/logic/list-sample-batches.js'
import { type Plan, planSample } from '../../pages/logic/plan-sample.js'
import type { Definition } from '../../pages/logic/rule-definition.js'

const task = (title: string, choice?: string) => ({
  type: 'CREATE_TASK',
  config: { title },
  ...(choice && { when: { field: 'decision.choice', operator: 'equals', value: choice } }),
})
const ask = (...options: string[]) => ({ type: 'WAIT', config: { decision: { options, within: '24h' } } })
const rule = (actions: object[], changes: object = {}) =>
  ({ name: 'n', description: '', trigger: 'LEAD_CREATED', conditions: [], actions, ...changes }) as Definition
const plan = (actions: object[], data: object = { name: 'Ada' }) =>
  planSample(rule(actions), { data }, undefined, 0) as Plan
const tell = ({ actions }: Pick<Plan, 'actions'>) =>
  actions.map(({ config }) => (config as { title?: string }).title ?? 'wait')

t.test('actions are shown as they would be', async (t) => {
  t.match(plan([task('Call {{name}}')]), {
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call Ada' } }],
    branches: { length: 0 },
  })
})

t.test('a placeholder of a captured value stays, and warns of nothing', async (t) => {
  const call = { type: 'SEND_WEBHOOK', config: { url: 'https://x.io', capture: { number: 'body.number' } } }
  const [, planned] = plan([call, task('{{name}}: {{captured.number}}')]).actions
  t.match(planned, { config: { title: 'Ada: {{captured.number}}' }, warnings: { length: 0 } })
})

t.test('a part with a fault has no plan', async (t) => {
  t.equal(planSample(rule([{ type: 'NOTHING' }]), { data: {} }, undefined, 0), undefined)
})

t.test('after a decision each choice has what it leads to, and nobody has decided', async (t) => {
  const yes = task('An offer for {{name}}. {{decision.reason}}', 'approve')
  const planned = plan([task('first'), ask('approve', 'reject', 'ask_again'), yes, task('No', 'reject')])
  t.strictSame(tell(planned), ['first', 'wait'])
  t.strictSame(
    planned.branches.map((branch) => [branch.choices, branch.isExpired, ...tell(branch)]),
    [
      [['approve'], false, 'An offer for Ada. {{decision.reason}}'],
      [['reject'], false, 'No'],
      [['ask_again'], true],
    ],
    'choices after which the same is done are one branch',
  )
  t.equal(planned.leftOut, 0)
})

t.test('of many choices the first branches are shown, and the others counted', async (t) => {
  const options = Array.from({ length: 10 }, (_, index) => `option-${index}`)
  const planned = plan([ask(...options), task('{{decision.choice}}')])
  t.equal(planned.branches.length, 6)
  t.equal(planned.leftOut, 5)
})

const accepted = (minute: number) => `2026-11-27T10:${String(minute).padStart(2, '0')}:00.000Z`
const sample = (id: number, owner: string, minute: number): SampleVerdict => ({
  sample: { id: String(id), data: { owner, name: `lead ${id}` }, acceptedAt: accepted(minute) } as Sample,
  matches: true,
  conditions: [],
})

t.test('a rule that collects is planned for the batches that a worker would make, by key', async (t) => {
  const digest = rule([task('{{collected.count}} new leads for {{owner}}')], {
    perKey: { key: '{{owner}}', collect: { for: '30m', max: 3 } },
  })
  const newestFirst = [
    sample(6, 'ada', 50),
    sample(5, 'bo', 45),
    { ...sample(4, 'bo', 44), matches: false },
    sample(3, 'ada', 12),
    sample(2, 'ada', 11),
    sample(1, 'ada', 10),
    { ...sample(0, 'ada', 9), rival: 'another rule' },
  ]
  const batches = listSampleBatches(digest, newestFirst, 0) ?? []
  t.strictSame(
    batches.map(({ key, samples }) => [key, ...samples.map(({ id }) => id)]),
    [
      ['ada', '6'],
      ['bo', '5'],
      ['ada', '1', '2', '3'],
    ],
    'what does not match, and what another rule takes, is in none',
  )
  const full = batches[2]
  t.equal(full?.endsAt, Date.parse(accepted(12)), 'it was full')
  const planned = planSample(digest, newestFirst[3]?.sample as Sample, full, 0) as Plan
  t.strictSame(tell(planned), ['3 new leads for ada'])
  t.strictSame(planned.actions[0]?.warnings, [])
  const alone = planSample(digest, newestFirst[2]?.sample as Sample, undefined, 0) as Plan
  t.strictSame(tell(alone), ['1 new leads for bo'], 'an event that does not match would be one of its own')
  t.equal(listSampleBatches(rule([]), newestFirst, 0), undefined)
  const faulty = rule([], { perKey: { collect: { for: 'a while' } } })
  t.equal(listSampleBatches(faulty, newestFirst, 0), undefined)
})
