import { setImmediate } from 'node:timers/promises'
import { newId } from '@automation/database'
import type { Effect } from '@automation/engine'
import { openMetrics } from '@automation/telemetry'
import t from 'tap'
import { createGate } from '../src/effects/gate.js'
import { createExecutor } from '../src/executor.js'
import { makeReady } from '../src/ready-rule.js'
import type { Run } from '../src/run.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { log } from './fixtures/house.js'

const origin = 'https://hooks.example.com'
const call = { type: 'SEND_WEBHOOK', config: { url: `${origin}/a` } }

/** An executor whose ledger refuses as many records as a test says, and which fails to make as many calls. */
function openExecutor(places: number) {
  const clock = { now: 0 }
  const ledger = { refusals: 0 }
  const gate = createGate(places, () => clock.now)
  const calls = { made: 0, faults: 0 }
  const executor = createExecutor({
    queue: {} as never,
    ledger: {
      recordOutcome: async () => [],
      async recordStep() {
        ledger.refusals -= 1
        if (ledger.refusals >= 0) throw new Error('canceling statement due to statement timeout')
        return true
      },
    },
    leases: { hold() {}, release() {}, noteLost() {} } as never,
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

function newRun(actions: object[]): Run {
  const rule = { id: newId(), name: 'Rule', version: 1, conditions: [], actions }
  const event = { id: newId(), workspaceId: 'w', type: 'LEAD_CREATED', data: {}, ruleId: null, depth: 0 }
  return {
    executionId: newId(),
    rule: makeReady(rule),
    event: { ...event, rulesVersion: 0, autoPauseAfter: null, crashes: 0 },
    status: 'running',
    error: null,
    results: [],
    startedAt: new Date(),
    finishedAt: null,
    dueAt: null,
    lease: null,
    interruptions: 0,
    attention: null,
    tasks: [],
    emitted: [],
  }
}

type Opened = ReturnType<typeof openExecutor>

async function carryOnWith({ executor }: Opened, actions: object[]): Promise<void> {
  for (const active of executor.begin([newRun(actions)])) await executor.carryOn(active)
}

t.test('a slot that was waited for is free again when the intent cannot be recorded', async (t) => {
  const opened = openExecutor(1)
  const { gate, ledger, executor } = opened
  const other = gate.tryEnter('w', origin)
  const [active] = executor.begin([newRun([call])])
  ledger.refusals = 1
  const ended = active && executor.carryOn(active)
  t.equal(gate.waiting, 1)
  if (other?.kind === 'entered') other.leave(true)
  await ended
  t.equal(gate.inFlight, 0)
  await carryOnWith(opened, [call])
  t.equal(opened.calls.made, 1, 'and the destination is called')
})

t.test(
  'the slot of the next call is free again when the result of this one cannot be recorded',
  async (t) => {
    const opened = openExecutor(1)
    opened.ledger.refusals = 1
    await carryOnWith(opened, [call, call])
    t.equal(opened.gate.inFlight, 0)
    await carryOnWith(opened, [call])
    t.equal(opened.calls.made, 2, 'and the destination is called')
  },
)

t.test('so is the slot of a run that was taken up again', async (t) => {
  const opened = openExecutor(1)
  opened.ledger.refusals = 1
  await opened.executor.resume({ run: newRun([call]), lease: newId() })
  t.equal(opened.gate.inFlight, 0)
  await opened.executor.resume({ run: newRun([call]), lease: newId() })
  t.equal(opened.calls.made, 1, 'and the destination is called')
})

t.test('a probe that was never sent does not keep its destination closed', async (t) => {
  const opened = openExecutor(1)
  for (let failure = 0; failure < 5; failure++) {
    const entry = opened.gate.tryEnter('w', origin)
    if (entry?.kind === 'entered') entry.leave(false)
  }
  opened.clock.now = 30_000
  opened.ledger.refusals = 1
  await opened.executor.resume({ run: newRun([call]), lease: newId() })
  t.equal(opened.gate.inFlight, 0)
  await opened.executor.resume({ run: newRun([call]), lease: newId() })
  t.equal(opened.calls.made, 1, 'the next run sends it')
})

t.test('a call that was never made says nothing of its destination', async (t) => {
  const opened = openExecutor(1)
  opened.calls.faults = 5
  for (let run = 0; run < 6; run++) await carryOnWith(opened, [call])
  t.equal(opened.calls.made, 1)
})

t.test('a run that cannot be begun does not keep the slots of those before it', async (t) => {
  const { gate, executor } = openExecutor(10)
  const fault = newRun([call])
  Object.defineProperty(fault.rule, 'compiled', {
    get() {
      throw new Error('out of memory')
    },
  })
  t.throws(() => executor.begin([newRun([call]), fault]), { message: 'out of memory' })
  t.equal(gate.inFlight, 0)
})

t.test('however many runs wait in line, Node warns of no leak', async (t) => {
  const { gate, executor } = openExecutor(8)
  gate.tryEnter('w', origin)
  const warnings: string[] = []
  const note = ({ name }: Error) => warnings.push(name)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const ended = executor.begin(Array.from({ length: 20 }, () => newRun([call]))).map(executor.carryOn)
  t.equal(gate.waiting, 20)
  // Node warns in the next tick.
  await setImmediate()
  t.strictSame(warnings, [])
  executor.stop()
  await Promise.all(ended)
  t.equal(gate.waiting, 0)
})
