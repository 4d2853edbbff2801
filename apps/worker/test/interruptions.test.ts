import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import t from 'tap'
import { createHarness } from './fixtures/harness.js'
import { leaveExecution } from './fixtures/leave-execution.js'
import { openTarget } from './fixtures/target.js'

const ends = [
  { name: 'succeeds', interruptions: 3, first: 'success', status: 'succeeded' },
  { name: 'is given up', interruptions: 4, first: 'unknown', status: 'failed' },
] as const

for (const { name, interruptions, first, status } of ends)
  t.test(`workers that ended during a call that ${name} do not count against the next call`, async (t) => {
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
    while (callsOf('/second') === 0) await setTimeout(20)
    t.match(await harness.own.execution.findUnique({ where: { id } }), { interruptions: 0, lostLeases: [] })

    // As a worker leaves it that ended during the second call.
    await harness.own.execution.update({ where: { id }, data: { lease: newId(), dueAt: new Date() } })
    const ended = await harness.untilStatus(id, 'succeeded', 'failed')
    release()
    t.equal(ended.status, status)
    t.match(ended.results, [{ status: first }, { status: 'success' }])
    t.equal(callsOf('/second'), 2)
  })
