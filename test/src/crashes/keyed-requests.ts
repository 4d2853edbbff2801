import type { NodeProcess } from '@automation/launcher'
import type { Test } from 'tap'
import { type KeyedAnswer, makeKeyedCaller, type Post, startDoomedApi } from '../fixtures/keyed-caller.js'
import type { Moment } from '../fixtures/kill-at-query.js'
import { settle } from '../fixtures/outcomes.js'
import { until } from '../fixtures/product.js'
import type { Scenario, Scene } from './scene.js'

const rules = '/api/automation-rules'
const trigger = `${rules}/trigger/LEAD_CREATED`
const execute = `${rules}/:id/execute`
const clone = `${rules}/:id/clone`
const action = { type: 'CREATE_TASK', config: { title: '{{name}}' } }

interface Run {
  moment: Moment
  path: string
  title: string
  stored: number
  isAsync?: boolean
}

const runs: Run[] = [
  {
    moment: 'before accept_once',
    path: trigger,
    title: 'killed before the commit, an API has accepted nothing: the retry is the first',
    stored: 0,
  },
  {
    moment: 'after accept_once',
    path: trigger,
    title: 'killed after the commit, it has accepted: the retry waits for the outcome, and gets it',
    stored: 1,
  },
  {
    moment: 'after accept_once',
    path: execute,
    title: 'so also where one rule is executed',
    stored: 1,
  },
  {
    moment: 'after accept_once',
    path: execute,
    title: 'killed after the commit of an asynchronous request, the retry gets the same location',
    stored: 1,
    isAsync: true,
  },
  {
    moment: 'before keep_responses',
    path: execute,
    title: 'killed between outcome and stored response, the retry gets the outcome',
    stored: 1,
  },
  {
    moment: 'after keep_responses',
    path: trigger,
    title: 'killed between stored and sent response, the retry gets the response',
    stored: 1,
  },
]

interface Making {
  moment: Moment
  path: string
  title: string
  made: number
}

const makings: Making[] = [
  {
    moment: 'before COMMIT',
    path: rules,
    title: 'killed before its commit, a rule is not made, and its key is free',
    made: 0,
  },
  {
    moment: 'after COMMIT',
    path: rules,
    title: 'killed after its commit, a rule is made together with its key and answer',
    made: 1,
  },
  { moment: 'after COMMIT', path: clone, title: 'so also a copy of one', made: 1 },
]

interface Caller {
  scene: Scene
  post: Post
  worker: NodeProcess
  /** The rule that is executed and copied. */
  ruleId: string
  /** The URL of an API that lives on, and has never heard of what the others were asked. */
  survivor: string
}

type Ask = (baseUrl: string) => Promise<KeyedAnswer | undefined>

export const keyedRequests: Scenario = {
  title: 'a request whose API dies is done once under its key, and answered',
  async run(t, scene) {
    const rule = { name: 'Source', trigger: 'LEAD_CREATED', actions: [action] }
    const caller = {
      scene,
      post: await makeKeyedCaller(scene),
      worker: await scene.product.startWorker(),
      ruleId: (await scene.call('POST', rules, rule)).body.id,
      survivor: scene.product.apis[0]?.baseUrl ?? '',
    }
    for (const run of runs) await t.test(run.title, (t) => runTwice(t, caller, run))
    for (const making of makings) await t.test(making.title, (t) => makeTwice(t, caller, making))
  },
}

async function runTwice(
  t: Test,
  { scene, post, worker, ruleId, survivor }: Caller,
  { moment, path, title, stored, isAsync = false }: Run,
): Promise<void> {
  const headers: Record<string, string> = isAsync ? { prefer: 'respond-async' } : {}
  const ask: Ask = (baseUrl) =>
    post(baseUrl, path.replace(':id', ruleId), title, { data: { name: title } }, headers)
  const isUnfinished = moment === 'after accept_once' && !isAsync
  if (isUnfinished) worker.kill('SIGSTOP')
  await dieAnswering(t, scene, moment, ask)
  const left = await findEvents(scene, title)
  t.equal(left.length, stored, 'events')
  if (isUnfinished) {
    const error = 'A request with this Idempotency-Key is still running'
    t.match(await ask(survivor), { status: 409, body: { error } })
    worker.kill('SIGCONT')
  }

  const answer = await askUntilAnswered(ask, survivor)
  t.match(answer, { status: isAsync ? 202 : 200, isReplay: stored > 0 })
  await settle(scene)
  const events = await findEvents(scene, title)
  t.strictSame(events, stored > 0 ? left : events.slice(0, 1))
  t.equal(answer.location, `/api/${path === trigger ? 'events' : 'executions'}/${events[0]}`)
  t.equal(await ownTables(scene).task.count({ where: { title } }), 1, 'tasks')
  t.strictSame(await ask(survivor), { ...answer, isReplay: true }, 'and so it stays')
}

async function makeTwice(
  t: Test,
  { scene, post, ruleId, survivor }: Caller,
  { moment, path, title, made }: Making,
): Promise<void> {
  const body = path === rules ? { name: title, trigger: 'LEAD_UPDATED', actions: [action] } : undefined
  const ask: Ask = (baseUrl) => post(baseUrl, path.replace(':id', ruleId), title, body)
  const before = await listRules(scene)
  await dieAnswering(t, scene, moment, ask)
  t.equal((await listRules(scene)).length, before.length + made, 'rules')

  const answer = await askUntilAnswered(ask, survivor)
  t.match(answer, { status: 201, isReplay: made > 0, location: `${rules}/${answer.body.id}` })
  const added = (await listRules(scene)).filter((id) => !before.includes(id))
  t.strictSame(added, [answer.body.id])
  const entries = await ownTables(scene).auditEntry.count({ where: { subject: answer.body.id } })
  t.equal(entries, 1, 'entries in the audit log')
  t.strictSame(await ask(survivor), { ...answer, isReplay: true }, 'and so it stays')
}

/** Asks an API that is killed at a moment of answering. */
async function dieAnswering(t: Test, scene: Scene, moment: Moment, ask: Ask): Promise<void> {
  const api = await startDoomedApi(scene, moment)
  t.equal(await ask(api.baseUrl), undefined, 'the caller gets no answer')
  t.match(await api.exited, { signal: 'SIGKILL' })
}

/** Asks the one that lives until the outcome is there. */
async function askUntilAnswered(ask: Ask, survivor: string): Promise<KeyedAnswer> {
  let answer: KeyedAnswer | undefined
  await until(async () => {
    answer = await ask(survivor)
    return answer?.status !== 409
  })
  if (answer === undefined) throw new Error('The API that should live gave no answer')
  return answer
}

/** The ids of the events whose data has a name. */
async function findEvents(scene: Scene, name: string): Promise<string[]> {
  const events = await ownTables(scene).event.findMany({ select: { id: true, data: true } })
  return events.filter(({ data }) => (data as { name?: string }).name === name).map(({ id }) => id)
}

async function listRules(scene: Scene): Promise<string[]> {
  return (await ownTables(scene).rule.findMany({ select: { id: true } })).map(({ id }) => id)
}

function ownTables({ database, workspaceId }: Scene) {
  return database.forWorkspace(workspaceId)
}
