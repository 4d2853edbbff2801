import { setImmediate } from 'node:timers/promises'
import { type Database, newId } from '@automation/database'
import { type Effect, Evaluation } from '@automation/engine'
import { openMetrics } from '@automation/process/telemetry'
import t from 'tap'
import { createAdmission } from '../src/admission.js'
import { Executor } from '../src/calls/executor.js'
import { Gate } from '../src/calls/gate.js'
import { Causation } from '../src/executions/causation.js'
import { EffectBudget } from '../src/executions/effect-budget.js'
import type { Execution } from '../src/executions/execution.js'
import { makeReady } from '../src/executions/ready-rule.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { log } from './fixtures/harness.js'

const origin = 'https://hooks.example.com'
const call = { type: 'SEND_WEBHOOK', config: { url: `${origin}/a` } }

/** An executor whose ledger refuses, and whose calls fail, a given number of times. */
function openExecutor(places: number, maxBytes?: number) {
  const clock = { now: 0 }
  const ledger = { refusals: 0, recorded: Promise.resolve(), underWay: 0 }
  const gate = new Gate(createAdmission(places), () => clock.now, undefined, maxBytes)
  const calls = { made: 0, faults: 0 }
  const executor = new Executor({
    suspensions: { has: () => false, during: (_, work) => work() },
    events: createAdmission(1).events,
    recorder: {
      async recordStep() {
        ledger.underWay += 1
        await ledger.recorded
        ledger.underWay -= 1
        ledger.refusals -= 1
        if (ledger.refusals >= 0) throw new Error('canceling statement due to statement timeout')
        return true
      },
    },
    leases: { hold() {}, release() {}, noteLost() {} },
    gate,
    async perform(): Promise<Effect> {
      calls.faults -= 1
      if (calls.faults >= 0) throw new Error('The keys cannot be read')
      calls.made += 1
      return { status: 'success' }
    },
    metrics: createWorkerMetrics(openMetrics()),
    log,
  })
  return { clock, ledger, gate, executor, calls }
}

function newExecution(actions: object[], heapBytes = 2): Execution {
  const rule = makeReady({ id: newId(), name: 'Rule', version: 1, conditions: [], actions })
  const loaded = { acceptedAt: Date.now(), rulesVersion: 0, autoPauseAfter: null, createdBy: null, heapBytes }
  const event = {
    ...loaded,
    id: newId(),
    workspaceId: 'w',
    type: 'LEAD_CREATED',
    data: {},
    addressee: null,
    depth: 0,
    rootId: null,
  }
  return {
    record: {
      id: newId(),
      handlerId: rule.id,
      ruleVersion: rule.version,
      status: 'running',
      error: null,
      results: [],
      startedAt: new Date(),
      finishedAt: null,
      dueAt: null,
      lease: null,
      awaitsSlot: false,
      interruptions: 0,
      reopened: 0,
      attention: null,
    },
    rule,
    evaluation: new Evaluation(Date.now()),
    budget: new EffectBudget(event, new Causation({} as Database)),
    event,
    tasks: [],
    emitted: [],
    effectBytes: 0,
  }
}

type Opened = ReturnType<typeof openExecutor>

async function continueWith({ executor }: Opened, actions: object[]): Promise<void> {
  for (const held of executor.begin([newExecution(actions)])) await executor.continue(held)
}

t.test('a slot after a wait is free again when the intent cannot be recorded', async (t) => {
  const opened = openExecutor(1)
  const { gate, ledger, executor } = opened
  const other = gate.tryEnter({ workspaceId: 'w', createdBy: null, heapBytes: 2 }, origin)
  const [held] = executor.begin([newExecution([call])])
  ledger.refusals = 1
  const ended = held && executor.continue(held)
  t.equal(gate.waiting, 1)
  if (other?.kind === 'entered') other.leave(true)
  await ended
  t.equal(gate.inFlight, 0)
  await continueWith(opened, [call])
  t.equal(opened.calls.made, 1, 'and the destination is called')
})

t.test('the slot of the next call is free again when this result cannot be recorded', async (t) => {
  const opened = openExecutor(1)
  opened.ledger.refusals = 1
  await continueWith(opened, [call, call])
  t.equal(opened.gate.inFlight, 0)
  await continueWith(opened, [call])
  t.equal(opened.calls.made, 2, 'and the destination is called')
})

t.test('what a call held counts until its result is recorded, though its slot is free before', async (t) => {
  const mebibyte = 1_048_576
  const { executor, gate, ledger, calls } = openExecutor(10, 4 * mebibyte)
  let endRecord = () => {}
  ledger.recorded = new Promise((resolve) => {
    endRecord = resolve
  })
  const [held] = executor.begin([newExecution([call], 3 * mebibyte)])
  const ended = held && executor.continue(held)
  while (gate.inFlight > 0) await setImmediate()
  t.equal(calls.made, 1)
  const other = { workspaceId: 'v', createdBy: null, heapBytes: 3 * mebibyte }
  t.equal(gate.tryEnter(other, origin)?.kind, 'full')
  endRecord()
  await ended
  t.equal(gate.tryEnter(other, origin)?.kind, 'entered')
})

t.test('a call that follows much work takes no slot before that is recorded', async (t) => {
  const { executor, gate, ledger, calls } = openExecutor(10)
  let endRecord = () => {}
  ledger.recorded = new Promise((resolve) => {
    endRecord = resolve
  })
  const execution = newExecution([call])
  execution.effectBytes = 2_000_000
  const { ended } = executor.resume({ execution, lease: newId() })
  await setImmediate()
  t.equal(gate.inFlight, 0)
  t.ok(execution.record.awaitsSlot)
  execution.effectBytes = 0
  endRecord()
  await ended
  t.equal(calls.made, 1)
})

t.test('what an execution has produced counts until it is recorded', async (t) => {
  const { executor, gate, ledger } = openExecutor(10, 4_194_304)
  let endRecord = () => {}
  ledger.recorded = new Promise((resolve) => {
    endRecord = resolve
  })
  const produced = newExecution([call])
  const [held] = executor.begin([produced])
  produced.effectBytes = 3_000_000
  const ended = held && executor.continue(held)
  while (gate.inFlight > 0) await setImmediate()
  const other = { workspaceId: 'v', createdBy: null, heapBytes: 3_000_000 }
  t.equal(gate.tryEnter(other, origin)?.kind, 'full')
  endRecord()
  await ended
  t.equal(gate.tryEnter(other, origin)?.kind, 'entered')
})

t.test('the slot of a claimed execution is free again, too', async (t) => {
  const opened = openExecutor(1)
  opened.ledger.refusals = 1
  await opened.executor.resume({ execution: newExecution([call]), lease: newId() }).ended
  t.equal(opened.gate.inFlight, 0)
  await opened.executor.resume({ execution: newExecution([call]), lease: newId() }).ended
  t.equal(opened.calls.made, 1, 'and the destination is called')
})

t.test('a probe that was never sent does not keep the breaker open', async (t) => {
  const opened = openExecutor(1)
  for (let failure = 0; failure < 5; failure++) {
    const entry = opened.gate.tryEnter({ workspaceId: 'w', createdBy: null, heapBytes: 2 }, origin)
    if (entry?.kind === 'entered') entry.leave(false)
  }
  opened.clock.now = 30_000
  opened.ledger.refusals = 1
  await opened.executor.resume({ execution: newExecution([call]), lease: newId() }).ended
  t.equal(opened.gate.inFlight, 0)
  await opened.executor.resume({ execution: newExecution([call]), lease: newId() }).ended
  t.equal(opened.calls.made, 1, 'the next execution sends it')
})

t.test('a call that was never made does not count for its destination', async (t) => {
  const opened = openExecutor(1)
  opened.calls.faults = 5
  for (let run = 0; run < 6; run++) await continueWith(opened, [call])
  t.equal(opened.calls.made, 1)
})

t.test('an execution that cannot begin does not keep the slots of earlier ones', async (t) => {
  const { gate, executor } = openExecutor(10)
  const fault = newExecution([call])
  Object.defineProperty(fault.rule, 'compiled', {
    get() {
      throw new Error('out of memory')
    },
  })
  t.throws(() => executor.begin([newExecution([call]), fault]), { message: 'out of memory' })
  t.equal(gate.inFlight, 0)
})

t.test('many executions that wait for a slot cause no leak warning of Node', async (t) => {
  const { gate, executor } = openExecutor(8)
  gate.tryEnter({ workspaceId: 'w', createdBy: null, heapBytes: 2 }, origin)
  const warnings: string[] = []
  const note = ({ name }: Error) => warnings.push(name)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const ended = executor
    .begin(Array.from({ length: 20 }, () => newExecution([call])))
    .map((held) => executor.continue(held))
  t.equal(gate.waiting, 20)
  // Node warns in the next tick.
  await setImmediate()
  t.strictSame(warnings, [])
  executor.stop()
  await Promise.all(ended)
  t.equal(gate.waiting, 0)
})

t.test(
  'an execution that the gate has no room for is suspended in one step, and a job waits for that',
  async (t) => {
    const { gate, executor, calls } = openExecutor(100, 300_000)
    const first = newExecution([call], 100_000)
    const entry = gate.tryEnter(first.event, origin)
    const second = newExecution([call], 100_000)
    await executor.resume({ execution: second, lease: newId() }).placed
    t.match(second.record, {
      status: 'running',
      lease: null,
      dueAt: Date,
      awaitsSlot: false,
      results: { length: 0 },
    })
    const third = newExecution([call], 100_000)
    t.strictSame(executor.begin([third]), [], 'it is recorded with its event')
    t.match(third.record, { lease: null, dueAt: Date })
    if (entry?.kind === 'entered') entry.leave(true)
    const fourth = executor.resume({ execution: newExecution([call], 100_000), lease: newId() })
    await fourth.placed
    await fourth.ended
    t.equal(calls.made, 1, 'what was held is given back')
  },
)
