import { newId, openPatiently } from '@automation/database'
import { defaultWorkLimits } from '@automation/engine'
import { createPrivateDatabase } from '@automation/launcher'
import { countWaiting } from '@automation/ledger'
import {
  openMetrics,
  registerBacktests,
  registerWaiting,
  registerWorkspaces,
} from '@automation/process/telemetry'
import { countBacktests, readClosedSeconds } from '@automation/rules'
import t, { type Test } from 'tap'
import { createAdmission } from '../src/admission.js'
import { startBacktests } from '../src/backtests/run-backtests.js'
import { defaultEmissionLimits } from '../src/executions/causation.js'
import { createIsolation } from '../src/running/run-isolated.js'
import type { WorkerLimits } from '../src/worker.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { createHarness, log } from './fixtures/harness.js'
import { slicesHere } from './fixtures/slices-here.js'
import { openTarget } from './fixtures/target.js'

/** A harness, and a function that reads the metrics of its worker and sweeper. */
async function openCounted(t: Test, limits: Partial<WorkerLimits> = {}) {
  const harness = await createHarness(t, {}, limits)
  const metrics = openMetrics()
  t.teardown(() => metrics.close())
  const port = await metrics.listen(0, '127.0.0.1')
  const counted = createWorkerMetrics(metrics)
  const read = async (series: string): Promise<number | undefined> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const line = text.split('\n').find((line) => line.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
  const until = async (series: string, least: number) => {
    while (((await read(series)) ?? 0) < least);
  }
  return { harness, metrics, counted, read, until }
}

t.test('events, executions, tasks, emitted events and commits are counted', async (t) => {
  const { harness, counted, read, until } = await openCounted(t)
  await harness.createRule([
    { type: 'CREATE_TASK', config: { title: 'Call' } },
    { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } },
  ])
  await harness.createRule([{ type: 'CREATE_TASK', config: { title: '{{nothing}}' } }], 'DEAL_WON')
  harness.startWorker(counted)
  for (let count = 0; count < 3; count++) await harness.inbox.accept(harness.newEvent())
  await until('automation_events_done_total', 6)

  t.equal(await read('automation_executions_total{status="succeeded"}'), 3)
  t.equal(await read('automation_executions_total{status="failed"}'), 3)
  t.equal(await read('automation_tasks_made_total'), 3)
  t.equal(await read('automation_events_emitted_total'), 3)
  t.equal(await read('automation_ledger_batch_size_sum{statement="outcomes"}'), 6)
  t.equal(await read('automation_event_done_seconds_count'), 6)
  t.ok(((await read('automation_event_done_seconds_sum')) ?? 0) < 60, 'in seconds since acceptance')
  t.equal(await read('automation_jobs_failed_total'), 0)
})

t.test('each call is counted by its type and result, and each opening of a breaker is counted', async (t) => {
  const { harness, counted, read, until } = await openCounted(t)
  const target = await openTarget(t, (_request, response) => void response.writeHead(503).end())
  const call = { type: 'SEND_WEBHOOK', config: { url: target.url } }
  await harness.createRule([{ ...call, retry: { attempts: 5, backoff: 'constant', delayMs: 50 } }])
  harness.startWorker(counted)
  await harness.inbox.accept(harness.newEvent())
  await until('automation_executions_total{status="failed"}', 1)
  const attempts = (result: string) =>
    read(`automation_action_attempt_seconds_count{type="SEND_WEBHOOK",result="${result}"}`)
  t.equal(await attempts('failed'), 5)
  t.equal(await attempts('success'), 0)
  t.equal(await read('automation_breaker_openings_total'), 1)
  t.equal(await read('automation_gate_places{state="taken"}'), 0)
  t.equal(await read('automation_gate_places{state="limit"}'), 100)
})

t.test('an execution beyond the budget of its event is counted', async (t) => {
  const { harness, counted, read, until } = await openCounted(t, {
    emissions: { ...defaultEmissionLimits, descendants: 1 },
  })
  const emit = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' }, continueOnError: true }
  await harness.createRule([emit, emit, emit])
  harness.startWorker(counted)
  await harness.inbox.accept(harness.newEvent())
  await until('automation_events_done_total', 2)
  t.equal(await read('automation_budget_overruns_total{budget="event_budget"}'), 1)
  t.equal(await read('automation_budget_overruns_total{budget="work_budget"}'), 0)
})

t.test('jobs that the sweeper restores are counted', async (t) => {
  const { harness, counted, until } = await openCounted(t)
  const event = harness.newRow()
  await harness.own.event.create({ data: { ...event, acceptedAt: new Date(Date.now() - 10_000) } })
  harness.startSweeper(counted)
  await until('automation_sweeper_rescues_total{what="events"}', 1)
})

t.test('a quarantined event is counted', async (t) => {
  const { harness, counted, read } = await openCounted(t)
  const event = harness.newRow()
  await harness.own.event.create({ data: { ...event, crashes: 4 } })
  const runIsolated = createIsolation(harness.database, createAdmission(1).isolated, () =>
    counted.quarantined.inc(),
  )
  await runIsolated(event, async () => void t.fail('it is not run'))
  t.equal(await read('automation_events_quarantined_total'), 1)
})

t.test('backtests are counted: what waits, slices by their result, and events', async (t) => {
  const { harness, metrics, counted, read, until } = await openCounted(t)
  const { database, own, workspaceId } = harness
  for (const type of ['LEAD_CREATED', 'LEAD_CREATED', 'DEAL_WON'])
    await own.event.create({ data: { ...harness.newRow(), type, doneAt: new Date() } })
  const create = (conditions: object[]) => {
    const definition = { trigger: 'LEAD_CREATED', conditions, actions: [] }
    const [from, to] = [Date.now() - 3_600_000, Date.now() + 1_000]
    const subject = { draft: definition, from, to }
    const range = { rangeFrom: new Date(from), rangeTo: new Date(to) }
    return own.backtest.create({
      data: { id: newId(), workspaceId, subject, ...range, pace: 'full', createdBy: 'cli:test' },
    })
  }
  await create([])
  registerBacktests(metrics, () => countBacktests(database))
  t.equal(await read('automation_backtests{status="waiting"}'), 1)
  t.equal(await read('automation_backtests{status="running"}'), 0)
  const limits = { workLimits: defaultWorkLimits, retentionDays: 0 }
  const backtests = startBacktests(database, slicesHere(database, limits), limits.workLimits, log, counted)
  t.teardown(() => backtests.stop())
  await until('automation_backtest_slices_total{result="stored"}', 1)
  t.equal(await read('automation_backtest_events_total{kind="scanned"}'), 3)
  t.equal(await read('automation_backtest_events_total{kind="considered"}'), 2)
  t.equal(await read('automation_backtest_slices_total{result="failed"}'), 0)
  await create([{ field: 'name', operator: 'matches', value: '(' }])
  await until('automation_backtest_slices_total{result="failed"}', 1)
})

t.test('executions that the sweeper wakes, since no commit did, are counted', async (t) => {
  const { harness, metrics, counted, read, until } = await openCounted(t)
  harness.startWorker(counted)
  const wait = { type: 'WAIT', config: { duration: '30d' } }
  const ruleId = await harness.createRule([wait], undefined, { whileRunning: 'queue' })
  const [first] = [await harness.trigger(ruleId), await harness.trigger(ruleId)]
  await until('automation_events_done_total', 2)
  registerWaiting(metrics, () => countWaiting(harness.database))
  t.equal(await read('automation_executions_waiting{for="key"}'), 1)
  t.equal(await read('automation_executions_waiting{for="event"}'), 0)
  const end = { status: 'cancelled', dueAt: null, finishedAt: new Date() } as const
  await harness.own.execution.update({ where: { id: first }, data: end })
  harness.startSweeper(counted)
  await until('automation_late_wakes_total{what="key"}', 1)
})

t.test('a workspace that stays closed is measured, by its side of the move', async (t) => {
  const { metrics, read } = await openCounted(t)
  const database = openPatiently(await createPrivateDatabase(process.env.DATABASE_URL ?? ''), 2)
  t.teardown(() => database.close())
  t.strictSame(await readClosedSeconds(database), { to: 0, from: 0 })
  const close = (moving: string, hours: number, more: object = {}) =>
    database.system.workspace.create({
      data: {
        ...{ id: newId(), name: 'Acme', moving: `${moving} ${newId()}`, hasParked: true },
        ...{ closedAt: new Date(Date.now() - hours * 3_600_000), ...more },
      },
    })
  await database.system.workspace.create({ data: { id: newId(), name: 'open', hasParked: true } })
  await close('to', 1)
  await close('to', 2)
  await close('to', 9, { deletesAt: new Date(0) })
  await close('from', 3)
  await close('undone', 4)
  registerWorkspaces(metrics, () => readClosedSeconds(database))
  const hoursOf = async (side: string) =>
    Math.floor(((await read(`automation_workspace_closed_seconds{side="${side}"}`)) ?? Number.NaN) / 3_600)
  t.equal(await hoursOf('to'), 2, 'the first one, but that which goes')
  t.equal(await hoursOf('from'), 4, 'a copy that is left, too')
})
