import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import t, { type Test } from 'tap'
import { createHarness } from './fixtures/harness.js'
import { leaveExecution } from './fixtures/leave-execution.js'
import { openTarget } from './fixtures/target.js'

t.test('workers that ended during a call that succeeds do not count against the next call', async (t) => {
  const { harness, callsOf, release, id } = await leaveFirstCall(t, 3)
  while (callsOf('/second') === 0) await setTimeout(20)
  t.match(await harness.own.execution.findUnique({ where: { id } }), {
    interruptions: 0,
    lostLeases: { length: 0 },
  })

  // As a worker leaves it that ended during the second call.
  await harness.own.execution.update({ where: { id }, data: { lease: newId(), dueAt: new Date() } })
  const ended = await harness.untilStatus(id, 'succeeded', 'failed')
  release()
  t.equal(ended.status, 'succeeded')
  t.match(ended.results, [{ status: 'success' }, { status: 'success' }])
  t.equal(callsOf('/second'), 2)
})

t.test('an execution whose call has ended five workers fails there, also with continueOnError', async (t) => {
  const { harness, callsOf, id } = await leaveFirstCall(t, 4)
  const ended = await harness.untilStatus(id, 'succeeded', 'failed')
  t.match(ended, { status: 'failed', results: [{ status: 'unknown' }] })
  t.equal(callsOf('/second'), 0)
})

/** A worker continues an execution of two calls, during the first of which so many have ended. The first request of the second one is left open. */
async function leaveFirstCall(t: Test, interruptions: number) {
  const harness = await createHarness(t)
  let release = () => {}
  const callsOf = (path: string) => target.calls.filter((call) => call.path === path).length
  const target = await openTarget(t, (request, response) => {
    if (request.url === '/second' && callsOf('/second') === 1) release = () => response.end()
    else response.end()
  })
  const ruleId = await harness.createRule(
    ['/first', '/second'].map((path) => {
      return { type: 'SEND_WEBHOOK', config: { url: target.url + path }, continueOnError: true }
    }),
  )
  const id = await leaveExecution(harness, ruleId, { interruptions, lostLeases: [newId(), newId()] })
  harness.startWorker()
  harness.startSweeper()
  return { harness, callsOf, release: () => release(), id }
}
