import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { createPrivateDatabase } from '@automation/launcher'
import t, { type Test } from 'tap'
import { type EvaluatorLimits, evaluatorLimits } from '../src/evaluation/evaluator.js'
import {
  type Answer,
  askPatiently,
  type Call,
  ruleBody,
  rules,
  startApi,
  type Workspace,
} from './fixtures/api.js'
import { storeEvent, storeExecution } from './fixtures/history.js'
import { measureHold, skipCpu } from './fixtures/hold.js'

const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL })

const later = { prefer: 'respond-async' }
const onlyLong = { skip: process.env.TEST_LONG ? false : 'only the long run has it' }
/** Letters for which an automaton builds a new state at each step. */
const letters = Array.from({ length: 8_000 }, (_, n) => 'ab'[((n * n * 31 + (n >> 3) * 17) % 7) % 2]).join('')
const widePatterns = Array.from({ length: 11 }, (_, n) => ({
  field: 'text',
  operator: 'matches',
  value: `(?i)a[ab]{${400 + n}}[cd]`,
}))
const hostileRule = ruleBody({ conditions: [{ any: widePatterns }] })

async function createRule({ call }: Workspace, body: object = ruleBody()): Promise<string> {
  const created = await call<{ id: string }>('POST', rules, { body })
  if (created.status !== 201) throw new Error(JSON.stringify(created.body))
  return `${rules}/${created.body.id}`
}

function dryRun({ call }: Workspace, rule: string, data: object = {}) {
  return call('POST', `${rule}/execute?explain=true`, { body: { data, dryRun: true } })
}

t.test('a burst of hostile dry runs delays neither triggers nor dry runs of others', onlyLong, async (t) => {
  const [hostile, quiet] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const rule = await createRule(hostile, hostileRule)
  const ordinary = await createRule(quiet)
  const ended: string[] = []
  const note = (name: string) => () => void ended.push(name)
  const { heldMs, tookMs } = await measureHold(async () => {
    const burst = Array.from({ length: 40 }, (_, n) =>
      dryRun(hostile, rule, { text: letters.slice(n, 4_000 + n) }).then(({ status }) => {
        t.ok(status === 200 || status === 429, `${status}`)
        ended.push('hostile')
      }),
    )
    await Promise.all([
      ...burst,
      quiet
        .call('POST', `${rules}/trigger/LEAD_CREATED`, { body: { data: {} }, headers: later })
        .then(note('trigger')),
      dryRun(quiet, ordinary).then(note('dry run')),
    ])
  })
  const hostileBefore = (name: string) =>
    ended.slice(0, ended.indexOf(name)).filter((other) => other === 'hostile').length
  t.ok(hostileBefore('trigger') < 10, `${hostileBefore('trigger')} dry runs ended before the trigger`)
  t.ok(
    hostileBefore('dry run') < 10,
    `${hostileBefore('dry run')} dry runs ended before that of another workspace`,
  )
  // 42 requests of this process begin in one turn, so that the 50 ms of one question are asserted below.
  t.ok(heldMs < tookMs / 2, `the event loop was held for ${heldMs} ms of ${tookMs} ms`)
})

t.test('no question holds the event loop for 50 ms of CPU time', { skip: skipCpu }, async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const ruleIds: string[] = []
  for (let n = 0; n < 6; n++) ruleIds.push((await createRule(workspace, hostileRule)).slice(rules.length + 1))
  const text = letters.slice(0, 4_000)
  // As a rule emits it that copies a list: a mebibyte at most. What comes from outside has fewer values, and is parsed with its request.
  const lists = Array.from({ length: 18 }, () => Array.from({ length: 19_000 }, () => ({})))
  const event = await storeEvent(workspace, { data: { text, lists }, ruleIds })
  const ids: string[] = []
  for (const ruleId of ruleIds) ids.push((await storeExecution(workspace, event, ruleId)).id)
  const questions: Record<string, () => Promise<Answer>> = {
    'a dry run': () =>
      call('POST', `${rules}/trigger/LEAD_CREATED?explain=true`, { body: { data: { text }, dryRun: true } }),
    'the explanation of an execution': () => call('GET', `/api/executions/${ids[0]}?explain=true`),
    why: () => call('GET', `/api/events/${event.id}/why`),
  }
  for (const [title, ask] of Object.entries(questions)) {
    // The first request compiles what its route needs. What a question holds is in each of three, garbage collection is not.
    const { status } = await ask()
    t.ok(status === 200 || status === 400, `${title}: ${status}`)
    const holds = [await measureHold(ask), await measureHold(ask), await measureHold(ask)]
    const heldMs = Math.min(...holds.map(({ heldCpuMs }) => heldCpuMs))
    t.ok(heldMs < 50, `${title} held it for ${heldMs} ms`)
  }
})

t.test('to check patterns that take seconds to compile holds nobody', onlyLong, async (t) => {
  const { call } = await api.makeWorkspace()
  const clauses = Array.from({ length: 50 }, (_, n) => ({
    field: 'text',
    operator: 'matches',
    value: `(?i)[${'\\p{L}\\p{N}\\p{P}'.repeat(50)}]${n}`,
  }))
  const { result, heldMs, tookMs } = await measureHold(() =>
    askPatiently(() => call('POST', rules, { body: ruleBody({ conditions: [{ any: clauses }] }) })),
  )
  t.ok(result.status === 201 || result.status === 400, `${result.status}`)
  t.ok(heldMs < tookMs / 2, `the event loop was held for ${heldMs} ms of ${tookMs} ms`)
})

t.test('a rule of patterns that are too large is refused before the next is compiled', async (t) => {
  const { call } = await api.makeWorkspace()
  const clauses = Array.from({ length: 50 }, (_, n) => ({
    field: 'text',
    operator: 'matches',
    value: `${'a{1000}'.repeat(120)}${n}`,
  }))
  const { body, status } = await call<{ errors: object[] }>('POST', rules, {
    body: ruleBody({ conditions: [{ any: clauses }] }),
  })
  t.equal(status, 422)
  t.match(body.errors, [
    { field: 'conditions[0].any[0].value', message: 'Must be a smaller pattern' },
    { field: 'conditions', message: /fewer or smaller patterns/ },
  ])
  t.equal(body.errors.length, 2)
})

t.test('to preview an email that takes too much work is refused', async (t) => {
  const { call } = await api.makeWorkspace()
  const text = '{{a | upper | lower | upper | lower | upper | lower | upper | lower | truncate:1}}'.repeat(
    200,
  )
  const template = await call<{ id: string }>('POST', '/api/email-templates', {
    body: { name: 'Long', text },
  })
  t.equal(template.status, 201)
  const { status, body } = await call('POST', `/api/email-templates/${template.body.id}/preview`, {
    body: { data: { a: 'ä'.repeat(400_000) } },
  })
  t.equal(status, 422)
  t.match(body, { errors: [{ field: 'data', message: /exceeds the evaluation limit/ }] })
})

/** An API whose conditions may take any work. */
async function startLimited(t: Test, limits: Partial<EvaluatorLimits>) {
  const any = Number.MAX_SAFE_INTEGER
  const { app, makeWorkspace } = await startApi(
    t,
    { DATABASE_URL },
    { workLimits: { rule: any, event: any }, evaluation: { ...evaluatorLimits, work: any, ...limits } },
  )
  const workspace = await makeWorkspace()
  const { id, tokens } = workspace
  /** A check of a new rule has the limits, too: this one is made through the API without them. */
  const patient: Call = (method, path, question) =>
    api.call(method, path, { token: tokens.admin, workspace: id, ...question })
  return { app, workspace, patient: { ...workspace, call: patient } }
}

t.test('a dry run that takes too long is refused, and the next one runs', async (t) => {
  const { app, workspace, patient } = await startLimited(t, { timeoutMs: 401 })
  const rule = await createRule(patient)
  const slow = await createRule(patient, hostileRule)
  t.match(await dryRun(workspace, slow, { text: letters.repeat(12) }), {
    status: 400,
    body: { error: /timed out after 401 ms/ },
  })
  t.match(await dryRun(workspace, rule), { status: 200, body: { success: true } })
  t.ok(app.evaluator.pid)
})

t.test('a dry run that takes too much memory is refused, and the next one runs', async (t) => {
  const { app, workspace } = await startLimited(t, { timeoutMs: 10_000, memoryMb: 32 })
  const rule = await createRule(workspace)
  const notification = { type: 'CREATE_TASK', config: { title: 'x', description: '{{list | json}}' } }
  const large = await createRule(workspace, ruleBody({ actions: Array(20).fill(notification) }))
  // A text with one such sign takes two bytes a character: twenty configs take more than 32 MB before one is written.
  const list = Array.from({ length: 400 }, (_, n) => `€${n}`.padEnd(1_000, '"'))
  t.match(await dryRun(workspace, large, { list }), {
    status: 400,
    body: { error: /more than 32 MB of memory/ },
  })
  t.match(await dryRun(workspace, rule), { status: 200, body: { success: true } })
  t.ok(app.evaluator.pid)
})

t.test('a check that takes too long is refused with what its caller can do', async (t) => {
  const { workspace } = await startLimited(t, { timeoutMs: 100 })
  const clauses = Array.from({ length: 50 }, (_, n) => ({
    field: 'text',
    operator: 'matches',
    value: `(?i)[${'\\p{L}\\p{N}\\p{P}'.repeat(50)}]${n}`,
  }))
  const set = Array.from({ length: 3 }, () => ruleBody({ conditions: [{ any: clauses }] }))
  t.match(await workspace.call('POST', `${rules}/check`, { body: { rules: set } }), {
    status: 400,
    body: { error: /^The evaluation timed out after 100 ms: try again, or check fewer rules at a time$/ },
  })
})

t.test('a workspace with too many dry runs gets 429, and others do not', async (t) => {
  const [busy, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const [rule, ordinary] = [await createRule(busy, hostileRule), await createRule(other)]
  const asked = Array.from({ length: 103 }, (_, n) =>
    dryRun(busy, rule, { text: letters.slice(n, 1_000 + n) }),
  )
  t.match(await dryRun(other, ordinary), { status: 200 })
  const refused = (await Promise.all(asked)).filter(({ status }) => status === 429)
  t.match(refused[0], { headers: { 'retry-after': /^[1-9]/ }, body: { error: /^Too many of your requests/ } })
})

const skip = process.platform === 'linux' ? false : 'only Linux has /proc'
t.test(
  'the child process has a lower priority, ends first where memory is short, and knows no setting',
  { skip },
  async (t) => {
    const workspace = await api.makeWorkspace()
    await dryRun(workspace, await createRule(workspace))
    const read = (file: string, pid: number | 'self' = api.app.evaluator.pid ?? 0) =>
      readFileSync(`/proc/${pid}/${file}`, 'utf8')
    const nicenessOf = (stat: string) => Number(stat.split(') ').at(-1)?.split(' ')[16])
    t.equal(nicenessOf(read('stat')), nicenessOf(read('stat', 'self')) + 5)
    t.equal(read('oom_score_adj'), '1000\n')
    t.notMatch(read('environ'), /DATABASE_URL|SECRET|KEY=/)
  },
)

t.test('an API has no child process before it needs one, and ends it with itself', async (t) => {
  const { app, makeWorkspace } = await startApi(t, { DATABASE_URL })
  const workspace = await makeWorkspace()
  const rule = await createRule(workspace)
  t.equal(app.evaluator.pid, undefined)
  await dryRun(workspace, rule)
  const pid = app.evaluator.pid as number
  t.ok(isAlive(pid))
  await app.close()
  t.equal(app.evaluator.pid, undefined)
  t.notOk(isAlive(pid))
})

t.test(
  'a child process that was killed is replaced, and a signal for the group does not end it',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const rule = await createRule(workspace)
    t.match(await dryRun(workspace, rule), { status: 200 })
    const pid = api.app.evaluator.pid as number
    process.kill(pid, 'SIGTERM')
    process.kill(pid, 'SIGINT')
    t.match(await dryRun(workspace, rule), { status: 200 })
    t.equal(api.app.evaluator.pid, pid)
    process.kill(pid, 'SIGKILL')
    while (api.app.evaluator.pid !== undefined) await setTimeout(5)
    t.match(await dryRun(workspace, rule), { status: 200 })
    t.not(api.app.evaluator.pid, pid)
  },
)

t.test('a question whose child process is killed is unavailable, and the next is answered', async (t) => {
  const { app, workspace } = await startLimited(t, { timeoutMs: 10_000 })
  const rule = await createRule(workspace)
  const slow = await createRule(workspace, hostileRule)
  const asked = dryRun(workspace, slow, { text: letters.repeat(12) })
  while (app.evaluator.pid === undefined) await setTimeout(5)
  await setTimeout(300)
  process.kill(app.evaluator.pid, 'SIGKILL')
  t.match(await asked, { status: 503, headers: { 'retry-after': '1' } })
  t.match(await dryRun(workspace, rule), { status: 200 })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
