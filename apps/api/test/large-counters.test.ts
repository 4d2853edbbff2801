import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules, startApi } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

const api = await startApi(t, { DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? '') })
await startWorker(t, api.config, t.testdir({ mail: {} }))

/** The most that 32 bits hold. */
const most = 2_147_483_647

t.test('a rule counts beyond two billion executions, and every route returns the number', async (t) => {
  const { call, database } = await api.makeWorkspace()
  const make = async (title: string) => {
    const actions = [{ type: 'CREATE_TASK', config: { title } }]
    const { body: rule } = await call<Rule>('POST', rules, { body: ruleBody({ actions }) })
    const data = { successCount: most, failureCount: most, consecutiveFailures: most }
    await database.ruleCounters.update({ where: { ruleId: rule.id }, data })
    return rule
  }
  const [sound, broken] = [await make('Call'), await make('{{nothing}}')]
  for (const { id } of [sound, broken])
    t.equal((await call('POST', `${rules}/${id}/execute`, { body: { data: {} } })).status, 200)

  const counts = {
    [sound.id]: { executionCount: 2 * most + 1, successCount: most + 1, failureCount: most },
    [broken.id]: { executionCount: 2 * most + 1, successCount: most, failureCount: most + 1 },
  }
  const pick = ({ executionCount, successCount, failureCount }: Rule) => ({
    executionCount,
    successCount,
    failureCount,
  })
  for (const { id } of [sound, broken])
    t.strictSame(pick((await call<Rule>('GET', `${rules}/${id}`)).body), counts[id])
  const { body: list } = await call<{ rules: Rule[] }>('GET', rules)
  t.equal(list.rules.length, 2)
  for (const rule of list.rules) t.strictSame(pick(rule), counts[rule.id])
  t.match((await call('GET', `${rules}/health`)).body, {
    totalExecutions: 4 * most + 2,
    successfulExecutions: 2 * most + 1,
    failedExecutions: 2 * most + 1,
    averageSuccessRate: 50,
  })
  const { body: attention } = await call<{ rules: object[] }>('GET', `${rules}/attention`)
  t.match(
    attention.rules.find((rule) => (rule as Rule).id === broken.id),
    { failureCount: most + 1 },
  )
  t.match(await database.ruleCounters.findMany({ orderBy: { ruleId: 'asc' } }), [
    { consecutiveFailures: 0n },
    { consecutiveFailures: BigInt(most) + 1n },
  ])
  const { body: changed } = await call<Rule>('PUT', `${rules}/${broken.id}`, {
    body: ruleBody({ name: 'Mended' }),
  })
  t.strictSame(pick(changed), counts[broken.id])
  const { body: clone } = await call<Rule>('POST', `${rules}/${broken.id}/clone`)
  t.strictSame(pick(clone), { executionCount: 0, successCount: 0, failureCount: 0 })
  t.match((await call('GET', '/api/developer/v1/ledger')).body, { imbalance: 0 })
})
