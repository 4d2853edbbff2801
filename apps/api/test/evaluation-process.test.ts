import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { EvaluationProcess } from '../src/evaluation/evaluation-process.js'

const bounds = { units: 1e9, ms: 10_000 }
const limits = { rule: 1e9, event: 1e9 }
const noFault = (error: Error) => {
  throw error
}

function dryRun(definition: object) {
  return { name: 'dryRun', input: { definition, data: {}, now: 0, limits, explains: false, bounds } } as const
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function waitForEnd(pid: number): Promise<void> {
  while (isAlive(pid)) await setTimeout(10)
}

t.test('it replies to one question after the other, and a fault is no end', async (t) => {
  const evaluation = new EvaluationProcess(64, noFault)
  t.teardown(() => evaluation.close())
  const { pid } = evaluation
  t.match(await evaluation.ask(dryRun({ conditions: [], actions: [] }), 10_000), { result: Uint8Array })
  const broken = { ...dryRun({}), input: undefined as never }
  t.match(await evaluation.ask(broken, 10_000), { fault: { message: String } })
  t.match(await evaluation.ask(dryRun({ conditions: [], actions: [] }), 10_000), { result: Uint8Array })
  t.equal(evaluation.pid, pid)
})

t.test('one that is late or has too little memory is ended, and says which', async (t) => {
  const late = new EvaluationProcess(64, noFault)
  const pid = late.pid as number
  await late.ask(dryRun({ conditions: [], actions: [] }), 10_000)
  process.kill(pid, 'SIGSTOP')
  t.strictSame(await late.ask(dryRun({ conditions: [], actions: [] }), 50), { ended: 'late' })
  t.equal(late.pid, undefined)
  await waitForEnd(pid)
  const full = new EvaluationProcess(32, noFault)
  // A megabyte of text for each of the actions, with two bytes a character.
  const actions = Array(200).fill({ type: 'CREATE_TASK', config: { title: '{{t | upper}}' } })
  const { name, input } = dryRun({ conditions: [], actions })
  const question = { name, input: { ...input, data: { t: 'ж'.repeat(500_000) } } }
  t.strictSame(await full.ask(question, 10_000), { ended: 'out of memory' })
})

t.test('one that cannot start says so', async (t) => {
  const faults: Error[] = []
  const evaluation = new EvaluationProcess(1, (error) => void faults.push(error))
  t.match(await evaluation.ask(dryRun({}), 10_000), { ended: Error })
  t.equal(faults.length, 1)
})

t.test('it ends with its parent, however that ends', async (t) => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const parent = fork(fileURLToPath(new URL('fixtures/evaluating-parent.js', import.meta.url)))
    const [pid] = (await once(parent, 'message')) as [number]
    t.ok(isAlive(pid))
    parent.kill(signal)
    await waitForEnd(pid)
  }
})
