import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import type { PerKey } from '@automation/engine'
import { narrowToExecution } from '@automation/history'
import { createClaimRemoval, reopenExecutions } from '@automation/ledger'
import t, { type Test } from 'tap'
import { createHarness, type Harness, onOwnDatabase } from './fixtures/harness.js'

const task = [{ type: 'CREATE_TASK', config: { title: 'Call {{lead}}' } }]
const weekly: PerKey = { key: '{{lead}}', atMost: { runs: 1, per: '7d' } }

/** Posts events of one key after another. @returns the executions of the rule for them, when all of them are done */
async function post(
  { newEvent, inbox, untilDone, own }: Harness,
  ruleId: string,
  leads: unknown[],
  more: object = {},
) {
  const events = leads.map((lead) => ({ ...newEvent(), data: { ...more, lead } }))
  await Promise.all(events.map((event) => inbox.accept(event)))
  await Promise.all(events.map(({ id }) => untilDone(id)))
  const ids = events.map((event) => executionIdOf(event, ruleId))
  return own.execution.findMany({ where: { id: { in: ids } }, orderBy: { id: 'asc' } })
}

async function start(t: Test, workers = 1) {
  const harness = await createHarness(t)
  for (let count = 0; count < workers; count++) harness.startWorker()
  return harness
}

t.test(
  'of events of a key that meet, as many run as the limit grants, and the others say why not',
  async (t) => {
    const harness = await start(t, 2)
    const ruleId = await harness.createRule(task, undefined, {
      key: '{{lead}}',
      atMost: { runs: 2, per: '1h' },
    })
    const executions = await post(
      harness,
      ruleId,
      Array.from({ length: 24 }, (_, index) => index % 3),
    )
    t.equal(executions.length, 24)
    const granted = executions.filter(({ status }) => status === 'succeeded')
    t.equal(granted.length, 6)
    const ids = new Set(granted.map(({ id }) => id))
    for (const { status, suppression, results, finishedAt } of executions) {
      if (status === 'succeeded') continue
      t.match({ status, results }, { status: 'suppressed', results: { length: 0 } })
      t.ok(finishedAt)
      t.match(suppression, { reason: 'at_most', key: /^[012]$/, until: /Z$/ })
      t.ok(ids.has((suppression as { executionId: string }).executionId))
    }
    t.equal(await harness.own.task.count(), 6)
    const counters = await harness.own.ruleCounters.findFirstOrThrow({ where: { ruleId } })
    t.match(counters, { successCount: 6n, failureCount: 0n })
    t.equal(await harness.own.keyClaim.count(), 6)
  },
)

t.test('a number and its text are one key; a missing and an empty value are another', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, weekly)
  const executions = await post(harness, ruleId, [7, '7', undefined, null, ''])
  const granted = executions.filter(({ status }) => status === 'succeeded')
  t.equal(granted.length, 2)
  const empty = 'perKey.key is empty: all events without it share one key'
  const warnings = granted.map(({ results }) => (results as { warnings?: string[] }[])[0]?.warnings ?? [])
  t.strictSame(warnings.map((all) => all.includes(empty)).sort(), [false, true], 'the first action says so')
})

t.test('a slow rule of the same event does not change the key of another rule', async (t) => {
  const harness = await createHarness(t, {}, { workLimits: { rule: 2_000, event: 50_000 } })
  harness.startWorker()
  const ruleId = await harness.createRule(task, undefined, weekly)
  const slowId = await harness.createRule(task)
  const conditions = [{ some: 'list', that: [{ field: '.', operator: 'equals', value: 1 }] }]
  await harness.own.rule.update({ where: { id: slowId }, data: { conditions } })
  const list = Array(2_000).fill(0)
  const executions = await post(harness, ruleId, [1, 2], { list })
  t.strictSame(
    executions.map(({ status }) => status),
    ['succeeded', 'succeeded'],
  )
  const slow = await harness.own.execution.findMany({ where: { handlerId: slowId } })
  t.match(slow, [{ status: 'failed' }, { status: 'failed' }])
})

t.test('an execution whose key cannot be rendered fails, and claims nothing', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, { ...weekly, key: '{{lead}}{{lead}}' })
  const executions = await post(harness, ruleId, ['x'.repeat(600_000)])
  t.match(executions, [{ status: 'failed', error: /^perKey\.key renders to more than/ }])
  t.equal(await harness.own.keyClaim.count(), 0)
})

t.test('an execution by hand asks for nothing and claims nothing', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, weekly)
  for (const _ of [1, 2]) {
    const event = { ...harness.newEvent('LEAD_CREATED', { kind: 'rule', id: ruleId }), data: { lead: 1 } }
    await harness.inbox.accept(event)
    await harness.untilStatus(event.id, 'succeeded')
  }
  const [execution] = await post(harness, ruleId, [1])
  t.equal(execution?.status, 'succeeded')
  t.equal(await harness.own.keyClaim.count(), 1)
})

t.test('an execution by hand of a rule with a schedule asks for nothing, and a tick does', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, 'SCHEDULE', { ...weekly, key: 'one' })
  const schedule = { every: '1d' }
  await harness.own.rule.update({ where: { id: ruleId }, data: { schedule } })
  for (const kind of ['rule', 'rule', 'tick'] as const) {
    const event = harness.newEvent('SCHEDULE', { kind, id: ruleId })
    await harness.inbox.accept(event)
    await harness.untilStatus(executionIdOf(event, ruleId), 'succeeded')
    t.equal(await harness.own.keyClaim.count(), kind === 'tick' ? 1 : 0)
  }
})

t.test('a suppressed execution makes no call, and its worker holds nothing of it', async (t) => {
  const harness = await start(t)
  const call = [{ type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:9/' }, retry: { attempts: 1 } }]
  const ruleId = await harness.createRule(call, undefined, weekly)
  const executions = await post(harness, ruleId, [1, 1, 1])
  const suppressed = executions.filter(({ status }) => status === 'suppressed')
  t.equal(suppressed.length, 2)
  for (const { lease, dueAt, results } of suppressed)
    t.strictSame({ lease, dueAt, results }, { lease: null, dueAt: null, results: [] })
})

t.test('a second delivery of an event finds what the first has claimed, and claims nothing', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, weekly)
  const [first] = await post(harness, ruleId, [1])
  await harness.queue.addCaused([
    {
      id: first?.eventId as string,
      workspaceId: harness.workspaceId,
      jobId: first?.eventId as string,
      depth: 0,
      rootId: null,
    } as never,
  ])
  const [second] = await post(harness, ruleId, [1])
  t.match(second?.suppression, { executionId: first?.id })
  t.equal(await harness.own.keyClaim.count(), 1)
})

t.test('another template of the key has no memory; another limit has it', async (t) => {
  const harness = await start(t)
  const ruleId = await harness.createRule(task, undefined, weekly)
  const change = async (perKey: PerKey) => {
    await harness.own.rule.update({ where: { id: ruleId }, data: { perKey, version: { increment: 1 } } })
    await harness.database.system.workspace.update({
      where: { id: harness.workspaceId },
      data: { rulesVersion: { increment: 1 } },
    })
  }
  const statusOf = async () => (await post(harness, ruleId, [1]))[0]?.status
  t.equal(await statusOf(), 'succeeded')
  t.equal(await statusOf(), 'suppressed')
  await change({ ...weekly, atMost: { runs: 2, per: '1d' } })
  t.equal(await statusOf(), 'succeeded')
  t.equal(await statusOf(), 'suppressed')
  await change({ ...weekly, key: '{{ lead }}' })
  t.equal(await statusOf(), 'succeeded')
})

/** A server that answers when it is told to. */
async function startServer(t: Test) {
  const waiting: ServerResponse[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => (body += part))
    request.on('end', () => {
      bodies.push(body)
      waiting.push(response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    bodies,
    call: {
      type: 'SEND_WEBHOOK',
      config: { url: `http://127.0.0.1:${port}/`, body: { n: '{{n}}' } },
      retry: { attempts: 1 },
    },
    async answer(status = 200) {
      while (waiting.length === 0) await delay(10)
      waiting.shift()?.writeHead(status).end()
    },
  }
}

const ofOne = (whileRunning: 'skip' | 'queue' | 'replace'): PerKey => ({ key: '{{lead}}', whileRunning })

/** Posts one event, and waits until it is done. @returns the id of its execution */
async function postOne(
  { newEvent, inbox, untilDone }: Harness,
  ruleId: string,
  n: number,
  lead: unknown = 1,
) {
  const event = { ...newEvent(), data: { lead, n } }
  await inbox.accept(event)
  await untilDone(event.id)
  return executionIdOf(event, ruleId)
}

t.test('skip: while an execution of a key has not ended, another one does nothing', async (t) => {
  const harness = await start(t)
  const { call, answer, bodies } = await startServer(t)
  const ruleId = await harness.createRule([call], undefined, ofOne('skip'))
  const first = await postOne(harness, ruleId, 1)
  const second = await postOne(harness, ruleId, 2)
  const found = await harness.untilStatus(second, 'suppressed')
  t.match(found.suppression, { reason: 'while_running', key: '1', executionId: first })
  const other = await postOne(harness, ruleId, 3, 'other')
  await answer()
  await answer()
  for (const id of [first, other]) await harness.untilStatus(id, 'succeeded')
  await postOne(harness, ruleId, 4)
  await answer()
  t.strictSame(bodies.length, 3)
})

t.test('queue: executions of a key run one after another, in the order of their events', async (t) => {
  const harness = await start(t, 2)
  const { call, answer, bodies } = await startServer(t)
  const ruleId = await harness.createRule([call], undefined, ofOne('queue'))
  const ids: string[] = []
  for (const n of [1, 2, 3, 4]) ids.push(await postOne(harness, ruleId, n))
  const states = await harness.own.execution.findMany({
    where: { handlerId: ruleId },
    orderBy: { id: 'asc' },
  })
  t.strictSame(
    states.map(({ status }) => status),
    ['running', 'waiting', 'waiting', 'waiting'],
  )
  for (const [index, id] of ids.entries()) {
    // A failure does not block the queue.
    await answer(index === 1 ? 500 : 200)
    await harness.untilStatus(id, index === 1 ? 'failed' : 'succeeded')
  }
  t.strictSame(
    bodies.map((body) => JSON.parse(body).n),
    [1, 2, 3, 4],
  )
})

t.test('queue: an execution that is reopened comes before later events', async (t) => {
  const harness = await start(t)
  const { call, answer, bodies } = await startServer(t)
  const ruleId = await harness.createRule([call], undefined, ofOne('queue'))
  const first = await postOne(harness, ruleId, 1)
  await answer(500)
  await harness.untilStatus(first, 'failed')
  const [second, third] = [await postOne(harness, ruleId, 2), await postOne(harness, ruleId, 3)]
  const narrowing = narrowToExecution(harness.workspaceId, first)
  const [reopened] = await harness.own.$transaction((transaction) =>
    reopenExecutions(transaction as never, narrowing, 'same', 1),
  )
  t.equal(reopened?.id, first)
  await answer()
  for (const id of [second, first]) {
    await harness.untilStatus(id, 'succeeded')
    await answer()
  }
  await harness.untilStatus(third, 'succeeded')
  t.strictSame(
    bodies.map((body) => JSON.parse(body).n),
    [1, 2, 1, 3],
  )
})

t.test(
  'queue: an execution that is cancelled leaves its key to the next, which the sweeper wakes',
  async (t) => {
    const harness = await start(t)
    harness.startSweeper()
    const wait = { type: 'WAIT', config: { duration: '30d' } }
    const ruleId = await harness.createRule([wait], undefined, ofOne('queue'))
    const [first, second] = [await postOne(harness, ruleId, 1), await postOne(harness, ruleId, 2)]
    const queued = await harness.untilStatus(second, 'waiting')
    t.strictSame(queued.results, [])
    await harness.own.execution.update({
      where: { id: first },
      data: { status: 'cancelled', dueAt: null, finishedAt: new Date() },
    })
    for (;;) {
      const { results } = await harness.untilStatus(second, 'waiting', 'running')
      if ((results as unknown[]).length === 1) break
      await delay(20)
    }
  },
)

t.test(
  'replace: a newer event ends what waits, and what is in progress after its present action',
  async (t) => {
    const harness = await start(t)
    const { call, answer, bodies } = await startServer(t)
    const wait = { type: 'WAIT', config: { duration: '30d' } }
    const waiting = await harness.createRule([wait, ...task], 'CONTACT_CREATED', ofOne('replace'))
    const post = async (n: number) => {
      const event = { ...harness.newEvent('CONTACT_CREATED'), data: { lead: 1, n } }
      await harness.inbox.accept(event)
      await harness.untilDone(event.id)
      return executionIdOf(event, waiting)
    }
    const ids = [await post(1), await post(2), await post(3)] as const
    const states = await Promise.all(
      ids.map((id) => harness.own.execution.findUniqueOrThrow({ where: { id } })),
    )
    t.strictSame(
      states.map(({ status, error }) => [status, error]),
      [
        ['cancelled', `A newer event of its key replaced it, with execution ${ids[1]}`],
        ['cancelled', `A newer event of its key replaced it, with execution ${ids[2]}`],
        ['waiting', null],
      ],
    )

    const calling = await harness.createRule([call, call], 'CONTACT_UPDATED', ofOne('replace'))
    const events = [1, 2].map((n) => ({ ...harness.newEvent('CONTACT_UPDATED'), data: { lead: 1, n } }))
    for (const event of events) {
      await harness.inbox.accept(event)
      await harness.untilDone(event.id)
    }
    const [old, young] = events.map((event) => executionIdOf(event, calling)) as [string, string]
    await harness.untilStatus(young, 'waiting')
    await answer()
    const ended = await harness.untilStatus(old, 'cancelled')
    t.match(ended.results, [{ status: 'success' }])
    t.equal(ended.error, `A newer event of its key replaced it, with execution ${young}`)
    await answer()
    await answer()
    await harness.untilStatus(young, 'succeeded')
    t.strictSame(
      bodies.map((body) => JSON.parse(body).n),
      [1, 2, 2],
    )
  },
)

t.test(
  'claims are removed after their window, but not while an event waits that was accepted before its end',
  async (t) => {
    const harness = await createHarness(t, await onOwnDatabase())
    const worker = harness.startWorker()
    const ruleId = await harness.createRule(task, undefined, {
      key: '{{lead}}',
      atMost: { runs: 1, per: '1h' },
    })
    await postOne(harness, ruleId, 1)
    await worker.close()
    const hour = 3_600_000
    const later = Date.now() + 2 * hour
    const remove = async (now: number) => {
      await harness.database.system.$transaction((transaction) => createClaimRemoval(now)(transaction, 100))
      return harness.own.keyClaim.count()
    }
    t.equal(await remove(Date.now()), 1)
    t.equal(await remove(later - hour / 2), 1, 'an event of the window may not be committed yet')
    const waiting = harness.newRow()
    await harness.own.event.create({ data: { ...waiting, data: {} } })
    t.equal(await remove(later), 1)
    await harness.own.event.update({ where: { id: waiting.id }, data: { doneAt: new Date() } })
    t.equal(await remove(later), 0)
  },
)

t.test('a rule without perKey takes no lock and leaves no claim', async (t) => {
  const harness = await createHarness(t)
  const { transact } = harness.database
  let transactions = 0
  harness.database.transact = (work) => {
    transactions++
    return transact(work)
  }
  harness.startWorker()
  const plain = await harness.createRule(task, 'DEAL_WON')
  const event = { ...harness.newEvent('DEAL_WON'), data: { lead: 1 } }
  await harness.inbox.accept(event)
  await harness.untilStatus(executionIdOf(event, plain), 'succeeded')
  t.equal(transactions, 0)
  t.equal(await harness.own.keyClaim.count(), 0)
  const limited = await harness.createRule(task, undefined, weekly)
  await postOne(harness, limited, 1)
  t.equal(transactions, 1)
})
