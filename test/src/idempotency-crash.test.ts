import t, { type Test } from 'tap'
import { type KeyedAnswer, makeKeyedCaller, startDoomedApi } from './fixtures/keyed-caller.js'
import type { Moment } from './fixtures/kill-at-query.js'
import { settle } from './fixtures/outcomes.js'
import { startRunningProduct, until } from './fixtures/product.js'

const running = await startRunningProduct()
const { product } = running
t.teardown(() => running.stop())
const own = running.database.forWorkspace(running.workspaceId)
const post = await makeKeyedCaller(running)
/** It lives on, and has never heard of what the others were asked. */
const survivor = product.apis[0]?.baseUrl ?? ''

const rules = '/api/automation-rules'
const action = { type: 'CREATE_TASK', config: { title: '{{name}}' } }
const { body: rule } = await running.call('POST', rules, {
  name: 'Source',
  trigger: 'LEAD_CREATED',
  actions: [action],
})
const trigger = `${rules}/trigger/LEAD_CREATED`
const execute = `${rules}/${rule.id}/execute`
const clone = `${rules}/${rule.id}/clone`

const runs: { moment: Moment; path: string; title: string; stored: number; isAsync?: boolean }[] = [
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

for (const { moment, path, title, stored, isAsync = false } of runs) {
  t.test(title, async (t) => {
    const headers: Record<string, string> = isAsync ? { prefer: 'respond-async' } : {}
    const ask = (baseUrl: string) => post(baseUrl, path, title, { data: { name: title } }, headers)
    const isUnfinished = moment === 'after accept_once' && !isAsync
    if (isUnfinished) product.workers[0]?.kill('SIGSTOP')
    await dieAnswering(t, moment, ask)
    const left = await findEvents(title)
    t.equal(left.length, stored, 'events')
    if (isUnfinished) {
      const error = 'A request with this Idempotency-Key is still running'
      t.match(await ask(survivor), { status: 409, body: { error } })
      product.workers[0]?.kill('SIGCONT')
    }

    const answer = await askUntilAnswered(ask)
    t.match(answer, { status: isAsync ? 202 : 200, isReplay: stored > 0 })
    await settle(running)
    const events = await findEvents(title)
    t.strictSame(events, stored > 0 ? left : events.slice(0, 1))
    t.equal(answer.location, `/api/${path === trigger ? 'events' : 'executions'}/${events[0]}`)
    t.equal(await own.task.count({ where: { title } }), 1, 'tasks')
    t.strictSame(await ask(survivor), { ...answer, isReplay: true }, 'and so it stays')
  })
}

const makings: { moment: Moment; path: string; title: string; made: number }[] = [
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

for (const { moment, path, title, made } of makings) {
  t.test(title, async (t) => {
    const body = path === rules ? { name: title, trigger: 'LEAD_UPDATED', actions: [action] } : undefined
    const ask = (baseUrl: string) => post(baseUrl, path, title, body)
    const before = await listRules()
    await dieAnswering(t, moment, ask)
    t.equal((await listRules()).length, before.length + made, 'rules')

    const answer = await askUntilAnswered(ask)
    t.match(answer, { status: 201, isReplay: made > 0, location: `${rules}/${answer.body.id}` })
    const added = (await listRules()).filter((id) => !before.includes(id))
    t.strictSame(added, [answer.body.id])
    t.equal(await own.auditEntry.count({ where: { subject: answer.body.id } }), 1, 'entries in the audit log')
    t.strictSame(await ask(survivor), { ...answer, isReplay: true }, 'and so it stays')
  })
}

/** Asks an API that is killed at a moment of answering. */
async function dieAnswering(
  t: Test,
  moment: Moment,
  ask: (baseUrl: string) => Promise<KeyedAnswer | undefined>,
): Promise<void> {
  const api = await startDoomedApi(running, moment)
  t.equal(await ask(api.baseUrl), undefined, 'the caller gets no answer')
  t.match(await api.exited, { signal: 'SIGKILL' })
}

/** Asks the one that lives until the outcome is there. */
async function askUntilAnswered(
  ask: (baseUrl: string) => Promise<KeyedAnswer | undefined>,
): Promise<KeyedAnswer> {
  let answer: KeyedAnswer | undefined
  await until(async () => {
    answer = await ask(survivor)
    return answer?.status !== 409
  })
  if (answer === undefined) throw new Error('The API that should live gave no answer')
  return answer
}

/** The ids of the events whose data has a name. */
async function findEvents(name: string): Promise<string[]> {
  const events = await own.event.findMany({ select: { id: true, data: true } })
  return events.filter(({ data }) => (data as { name?: string }).name === name).map(({ id }) => id)
}

async function listRules(): Promise<string[]> {
  return (await own.rule.findMany({ select: { id: true } })).map(({ id }) => id)
}
