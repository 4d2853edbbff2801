import t from 'tap'
import { listRecorded } from '../../../pages/logic/editing/list-recorded.js'

const namesOf = (rule: object, index: number) =>
  listRecorded({ perKey: null, actions: [], ...rule } as never, index).map(({ value }) => value)
const task = { type: 'CREATE_TASK', config: { title: '' } }

t.test('each action of a rule that collects can name what was collected', async (t) => {
  const rule = { perKey: { collect: { for: '1h' } }, actions: [task] }
  t.strictSame(namesOf(rule, 0), ['collected.count', 'collected.events', 'collected.omitted'])
  t.strictSame(namesOf({ actions: [task] }, 0), [])
})

t.test('actions before a decision can name its links, and those after it what was decided', async (t) => {
  const decide = { type: 'WAIT', config: { decision: { options: ['approve', 'reject'], within: '1d' } } }
  const actions = [task, decide, task]
  t.strictSame(namesOf({ actions }, 0), ['decision.links.approve', 'decision.links.reject'])
  t.strictSame(namesOf({ actions }, 1), [])
  t.strictSame(namesOf({ actions }, 2), ['decision.choice', 'decision.reason'])
})

t.test('later actions can name what earlier ones took, waited for, and how they ended', async (t) => {
  const actions = [
    { type: 'SEND_WEBHOOK', name: 'ticket', config: { url: 'x', capture: { number: 'body.id' } } },
    { type: 'WAIT', config: { duration: '1d', for: { match: { dealId: '{{id}}' } } } },
    task,
  ]
  t.strictSame(namesOf({ actions }, 2), ['captured.number', 'actions.ticket.outcome', 'waited.dealId'])
  t.strictSame(namesOf({ actions }, 0), [])
})
