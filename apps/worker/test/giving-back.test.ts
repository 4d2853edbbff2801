import type { ActionResult } from '@automation/engine'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { createHarness } from './fixtures/harness.js'
import { openTarget } from './fixtures/target.js'

t.test('a closing worker releases calls that take too long, and the next worker makes them', async (t) => {
  const harness = await createHarness(t)
  const target = await openTarget(t, (request, response) => {
    // The first call gets no response.
    const isFirst = target.calls.filter(({ path }) => path === request.url).length === 1
    if (!isFirst) response.end()
  })
  const hanging = { type: 'SEND_WEBHOOK', timeoutMs: 30_000 }
  const again = await harness.createRule([{ ...hanging, config: { url: `${target.url}/again` } }])
  const once = await harness.createRule([
    { ...hanging, config: { url: `${target.url}/once` }, onUncertain: 'stop' },
  ])
  const old = harness.startWorker()
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  await harness.untilDone(event.id)
  while (target.calls.length < 2) await new Promise(setImmediate)

  await old.close(100)
  const left = await harness.own.execution.findMany()
  matchLists(
    t,
    left,
    [
      { status: 'running', lease: null },
      { status: 'running', lease: null },
    ],
    'they are nobody’s',
  )
  t.ok(
    left.every(({ dueAt }) => dueAt !== null && dueAt.getTime() <= Date.now()),
    'and due at once',
  )

  harness.startWorker()
  harness.startSweeper()
  const idOf = (ruleId: string) => left.find((run) => run.handlerId === ruleId)?.id ?? ''
  const repeated = await harness.untilStatus(idOf(again), 'succeeded', 'failed')
  t.match(repeated, { status: 'succeeded', interruptions: 0 }, 'it does not count as an interruption')
  const [result] = repeated.results as unknown as ActionResult[]
  matchLists(t, result?.attempts, [{ error: 'A worker crashed during this call' }, { finishedAt: String }])
  const uncertain = await harness.untilStatus(idOf(once), 'succeeded', 'failed')
  matchLists(t, uncertain.results, [{ status: 'unknown' }], 'a call with onUncertain "stop" is not repeated')
  t.strictSame(target.calls.map(({ path }) => path).sort(), ['/again', '/again', '/once'])
  t.equal(target.keys().length, 2, 'each with its one key')
})
