import { matchLists } from '@automation/assertions'
import type { ActionResult } from '@automation/engine'
import t from 'tap'
import { openHouse } from './fixtures/house.js'
import { openTarget } from './fixtures/target.js'

t.test(
  'a worker that ends gives back the calls that take too long, and the next one makes them',
  async (t) => {
    const house = await openHouse(t)
    const target = await openTarget(t, (request, response) => {
      // The first call gets no response.
      const isFirst = target.calls.filter(({ path }) => path === request.url).length === 1
      if (!isFirst) response.end()
    })
    const hanging = { type: 'SEND_WEBHOOK', timeoutMs: 30_000 }
    const again = await house.createRule([{ ...hanging, config: { url: `${target.url}/again` } }])
    const once = await house.createRule([
      { ...hanging, config: { url: `${target.url}/once` }, onUncertain: 'stop' },
    ])
    const old = house.startWorker()
    const event = house.newEvent()
    await house.inbox.accept(event)
    await house.untilDone(event.id)
    while (target.calls.length < 2) await new Promise(setImmediate)

    await old.close(100)
    const left = await house.own.execution.findMany()
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

    house.startWorker()
    house.startSweeper()
    const idOf = (ruleId: string) => left.find((run) => run.ruleId === ruleId)?.id ?? ''
    const repeated = await house.untilStatus(idOf(again), 'succeeded', 'failed')
    t.match(repeated, { status: 'succeeded', interruptions: 0 }, 'nobody is counted as having died of it')
    const [result] = repeated.results as unknown as ActionResult[]
    matchLists(t, result?.attempts, [{ error: 'The worker ended during the call' }, { finishedAt: String }])
    const uncertain = await house.untilStatus(idOf(once), 'succeeded', 'failed')
    matchLists(t, uncertain.results, [{ status: 'unknown' }], 'what may not be repeated is not')
    t.strictSame(target.calls.map(({ path }) => path).sort(), ['/again', '/again', '/once'])
    t.equal(target.keys().length, 2, 'each under its one key')
  },
)
