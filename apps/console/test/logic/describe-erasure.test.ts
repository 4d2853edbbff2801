import t from 'tap'
import { listErased, sayCounted, sayErased, sayUnfinished } from '../../pages/logic/describe-erasure.js'

const nothing = {
  ...{ events: 0, executions: 0, tasks: 0, keptResponses: 0, receipts: 0, rejections: 0, backtests: 0 },
  ...{ lastErrors: 0, acknowledgements: 0, auditEntries: 0, deliveries: 0 },
}
const count = (
  events: number,
  { atLeast, unfinished = [0, 0] }: { atLeast?: true; unfinished?: [number, number] } = {},
) => ({
  ...{ events, executions: events * 2, tasks: 1, dryRun: true as const },
  ...(atLeast && { atLeast }),
  unfinished: { events: unfinished[0], executions: unfinished[1], filter: { ids: [] } },
})

t.test('an erasure says in words what was changed of each kind', async (t) => {
  t.same(listErased(nothing), [])
  t.same(listErased({ ...nothing, events: 1, executions: 1_200, lastErrors: 2, deliveries: 1 }), [
    '1 event',
    '1,200 executions',
    '2 last errors of rules',
    '1 delivery to a subscription',
  ])
  t.equal(sayErased(nothing), '')
  t.equal(
    sayErased({ ...nothing, events: 12, tasks: 1, receipts: 3, auditEntries: 1 }),
    '12 events, 1 task, 4 more',
  )
  t.equal(sayErased({ ...nothing, receipts: 1 }), '1 row')
})

t.test('a dry run says what it has found, and what keeps an erasure from beginning', async (t) => {
  t.equal(sayCounted(count(1)), '1 event has this value at this path, with 2 executions and 1 task.')
  t.match(sayCounted(count(0)), /^No event has this value/)
  t.match(sayCounted(count(0, { atLeast: true })), /An erasure looks at all events\.$/)
  t.match(sayCounted(count(20_000, { atLeast: true })), /^At least 20,000 events .* takes all of them\.$/)
  t.equal(sayUnfinished(count(1)), undefined)
  t.match(sayUnfinished(count(1, { unfinished: [0, 1] })), /^1 execution of this person has not ended/)
  t.match(
    sayUnfinished(count(1, { unfinished: [1, 2] })),
    /^2 executions and 1 event of this person have not ended/,
  )
})
