import { setTimeout } from 'node:timers/promises'
import type { ActionResult } from '@automation/engine'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'

const mebibyte = 1_048_576
const emit = (data?: unknown) => ({
  type: 'EMIT_EVENT',
  config: { eventType: 'LEAD_CREATED', ...(data === undefined ? {} : { data }) },
})
const tooLarge = { status: 'failed', error: 'The event would be larger than 1 MiB' }

t.test('events that contain the last one twice grow to 1 MiB, and then the action fails', async (t) => {
  const harness = await createHarness(t)
  await harness.createRule([emit({ lead: { first: '{{lead}}', again: '{{lead}}' } })])
  harness.startWorker()
  await harness.inbox.accept({ ...harness.newEvent(), data: { lead: { text: 'x'.repeat(100_000) } } })
  const execution = await untilOneFailed(harness)
  matchLists(t, execution.results, [
    { status: 'failed', error: 'config renders to more than 1048576 characters' },
  ])
  const events = await harness.own.event.findMany({ orderBy: { depth: 'asc' } })
  t.same(
    events.map(({ depth }) => depth),
    [0, 1, 2, 3],
    '100 KB, 200, 400, 800',
  )
  for (const { data } of events) t.ok(Buffer.byteLength(JSON.stringify(data)) <= mebibyte)
})

t.test('the limit applies to the stored JSON, not to the rendered characters', async (t) => {
  const harness = await createHarness(t)
  await harness.createRule([emit({ a: '{{text}}', b: '{{text}}' })])
  harness.startWorker()
  // Each is six characters in JSON: half a mebibyte is rendered, three are stored.
  await harness.inbox.accept({ ...harness.newEvent(), data: { text: '\u0001'.repeat(mebibyte / 4) } })
  matchLists(t, (await untilOneFailed(harness)).results, [tooLarge])
})

t.test('the rules of one event emit at most 16 MiB together, and further actions fail', async (t) => {
  const harness = await createHarness(t)
  const toDealWon = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' }, continueOnError: true }
  for (let rule = 0; rule < 3; rule++) await harness.createRule(Array(10).fill(toDealWon))
  harness.startWorker()
  const event = { ...harness.newEvent(), data: { text: 'x'.repeat(mebibyte - 100) } }
  await harness.inbox.accept(event)
  await harness.untilDone(event.id)
  const executions = await harness.own.execution.findMany({ where: { eventId: event.id } })
  const results = executions.flatMap(({ results }) => results as unknown as ActionResult[])
  t.equal(results.filter(({ status }) => status === 'success').length, 16)
  const failed = results.filter(({ status }) => status === 'failed')
  t.equal(failed.length, 14)
  for (const { error } of failed) t.equal(error, 'The rules of one event would emit more than 16 MiB')
  t.equal(await harness.own.event.count({ where: { type: 'DEAL_WON' } }), 16)
})

async function untilOneFailed({ own }: Harness) {
  for (;;) {
    const execution = await own.execution.findFirst({ where: { status: 'failed' } })
    if (execution) return execution
    await setTimeout(20)
  }
}
