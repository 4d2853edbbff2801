import { setTimeout } from 'node:timers/promises'
import { matchLists } from '@automation/assertions'
import type { ActionResult } from '@automation/engine'
import t from 'tap'
import { type House, openHouse } from './fixtures/house.js'

const mebibyte = 1_048_576
const emit = (data?: unknown) => ({
  type: 'EMIT_EVENT',
  config: { eventType: 'LEAD_CREATED', ...(data === undefined ? {} : { data }) },
})
const tooLarge = { status: 'failed', error: 'The event would be larger than 1 MiB' }

t.test(
  'events that hold the last one twice grow to a mebibyte and no further: the action that would go on fails',
  async (t) => {
    const house = await openHouse(t)
    await house.createRule([emit({ lead: { first: '{{lead}}', again: '{{lead}}' } })])
    house.startWorker()
    await house.inbox.accept({ ...house.newEvent(), data: { lead: { text: 'x'.repeat(100_000) } } })
    const execution = await untilOneFailed(house)
    matchLists(t, execution.results, [
      { status: 'failed', error: 'config renders to more than 1048576 characters' },
    ])
    const events = await house.own.event.findMany({ orderBy: { depth: 'asc' } })
    t.same(
      events.map(({ depth }) => depth),
      [0, 1, 2, 3],
      '100 KB, 200, 400, 800',
    )
    for (const { data } of events) t.ok(Buffer.byteLength(JSON.stringify(data)) <= mebibyte)
  },
)

t.test('what counts is the JSON that is stored, not the characters that a placeholder gave', async (t) => {
  const house = await openHouse(t)
  await house.createRule([emit({ a: '{{text}}', b: '{{text}}' })])
  house.startWorker()
  // Each is six characters in JSON: half a mebibyte is rendered, three are stored.
  await house.inbox.accept({ ...house.newEvent(), data: { text: '\u0001'.repeat(mebibyte / 4) } })
  matchLists(t, (await untilOneFailed(house)).results, [tooLarge])
})

t.test('the rules of one event emit 16 MiB together at most, and the rest of them fails', async (t) => {
  const house = await openHouse(t)
  const toDealWon = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' }, continueOnError: true }
  for (let rule = 0; rule < 3; rule++) await house.createRule(Array(10).fill(toDealWon))
  house.startWorker()
  const event = { ...house.newEvent(), data: { text: 'x'.repeat(mebibyte - 100) } }
  await house.inbox.accept(event)
  await house.untilDone(event.id)
  const executions = await house.own.execution.findMany({ where: { eventId: event.id } })
  const results = executions.flatMap(({ results }) => results as unknown as ActionResult[])
  t.equal(results.filter(({ status }) => status === 'success').length, 16)
  const failed = results.filter(({ status }) => status === 'failed')
  t.equal(failed.length, 14)
  for (const { error } of failed) t.equal(error, 'The rules of one event would emit more than 16 MiB')
  t.equal(await house.own.event.count({ where: { type: 'DEAL_WON' } }), 16)
})

async function untilOneFailed({ own }: House) {
  for (;;) {
    const execution = await own.execution.findFirst({ where: { status: 'failed' } })
    if (execution) return execution
    await setTimeout(20)
  }
}
