import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Answer, type Call, ruleBody, rules, startApi, task } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

const directory = t.testdir({ mail: {} })
const env = {
  DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  QUEUE_PREFIX: `{${newId()}}`,
}
const [api, twin] = await Promise.all([startApi(t, env), startApi(t, env)])
await startWorker(t, api.config, directory)

const trigger = `${rules}/trigger/LEAD_CREATED`
const isReplay = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true'

/** A workspace with one rule, asked under a key through the one API or the other. */
async function makeOwnWorkspace(fields: Record<string, unknown> = {}) {
  const workspace = await api.makeWorkspace()
  const { body: rule } = await workspace.call<Rule>('POST', rules, { body: ruleBody(fields) })
  const callOther: Call = (method, path, question) =>
    twin.call(method, path, { token: workspace.tokens.admin, workspace: workspace.id, ...question })
  const askThrough =
    (call: Call) =>
    (path: string, key: string, data: object = {}) =>
      call('POST', path, { body: { data }, headers: { 'idempotency-key': key } })
  return {
    ...workspace,
    rule,
    execute: `${rules}/${rule.id}/execute`,
    post: askThrough(workspace.call),
    postOther: askThrough(callOther),
    countTasks: () => workspace.database.task.count(),
  }
}

function outcomeOf({ status, headers, body }: Answer) {
  return { status, location: headers['content-location'], body }
}

t.test('a repeated run gets the same response, without effects', async (t) => {
  const { post, postOther, execute, rule, countTasks, database } = await makeOwnWorkspace()
  for (const path of [trigger, execute]) {
    const before = await countTasks()
    const first = await post(path, path, { name: 'Ada' })
    t.match(first, { status: 200, headers: { 'content-location': /^\/api\/(events|executions)\// } })
    t.notOk(isReplay(first))
    for (const again of [
      await post(path, path, { name: 'Ada' }),
      await postOther(path, path, { name: 'Ada' }),
    ]) {
      t.strictSame(outcomeOf(again), outcomeOf(first))
      t.ok(isReplay(again))
    }
    t.equal(await countTasks(), before + 1)
  }
  const counters = await database.ruleCounters.findUniqueOrThrow({ where: { ruleId: rule.id } })
  t.equal(counters.successCount, 2n)
})

t.test('a failed run is repeated as a response, and not executed again', async (t) => {
  const { post, postOther, execute, rule, database } = await makeOwnWorkspace({
    actions: [{ ...task, config: { title: '{{title}}' } }],
  })
  for (const path of [trigger, execute]) {
    const first = await post(path, path)
    t.match(JSON.stringify(first.body), /"success":false/)
    t.strictSame(outcomeOf(await postOther(path, path)), outcomeOf(first))
  }
  const counters = await database.ruleCounters.findUniqueOrThrow({ where: { ruleId: rule.id } })
  t.equal(counters.failureCount, 2n)
})

t.test('a repeated request gets a 409 during the run, and its outcome afterwards', async (t) => {
  const { post, postOther, countTasks, database } = await makeOwnWorkspace()
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      for (;;) {
        const answer = await (index % 2 ? post : postOther)(trigger, 'k')
        if (answer.status !== 409) return answer
        t.equal(answer.headers['retry-after'], '1')
      }
    }),
  )
  t.equal(answers.filter((answer) => !isReplay(answer)).length, 1)
  t.equal(new Set(answers.map((answer) => JSON.stringify(outcomeOf(answer)))).size, 1)
  matchLists(t, answers[0], { status: 200, body: { triggered: 1, results: [{ success: true }] } })
  t.equal(await countTasks(), 1)
  t.equal(await database.event.count(), 1)
})

t.test('the first response of a waiting execution is repeated at each stage of its progress', async (t) => {
  const { post, postOther, execute, countTasks } = await makeOwnWorkspace({
    actions: [{ type: 'WAIT', config: { duration: '1s' } }, task],
  })
  const first = await post(execute, 'k')
  matchLists(t, first, { status: 200, body: { success: true, results: [{ status: 'scheduled' }] } })
  while ((await countTasks()) === 0) await setTimeout(50)
  const again = await postOther(execute, 'k')
  t.strictSame(outcomeOf(again), outcomeOf(first))
  t.ok(isReplay(again))
})
