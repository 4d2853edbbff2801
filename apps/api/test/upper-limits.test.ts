import { createApiKey } from '@automation/access'
import { newId } from '@automation/database'
import t from 'tap'
import { type Answer, type Api, mint, rules, startApi, type Workspace } from './fixtures/api.js'
import { storeEvent, storeExecution, storeRule } from './fixtures/history.js'
import { makeSender } from './fixtures/sender.js'

// One token a minute: no test lasts long enough to get one back, however slow the machine.
const env = {
  RATE_LIMIT_AUTHENTICATED: '1/5',
  RATE_LIMIT_ENTERPRISE: '1/5',
  METRICS_PORT: '0',
}
/** Of both plans; enterprise workspaces have five times as much. */
const bucket = (burst: number) => ({
  standard: { perMinute: 1, burst },
  enterprise: { perMinute: 5, burst: 5 * burst },
})
const upper = { workspace: bucket(12), creator: bucket(20) }
const limited = { status: 429, body: { error: 'Rate limit exceeded' } }
const isLet = ({ status }: Answer) => status !== 429
const headersOf = ({ headers }: Answer) => ({
  limit: Number(headers['x-ratelimit-limit']),
  remaining: Number(headers['x-ratelimit-remaining']),
})

function addKey({ app }: Api, { id }: Workspace): Promise<{ key: string }> {
  const administrator = { database: app.database, workspaceId: id, actor: 'user:test' }
  return createApiKey(administrator, { name: 'A key', scopes: ['admin'] })
}

const addKeys = (api: Api, workspace: Workspace, count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await addKey(api, workspace)).key))

/** Workspaces that one user created. */
async function makeCreated(api: Api, count: number, createdBy = `user:${newId()}`): Promise<Workspace[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const workspace = await api.makeWorkspace()
      await workspace.database.workspace.updateMany({ data: { createdBy } })
      return workspace
    }),
  )
}

/** Sends as many requests with each of some keys as its own bucket has tokens. */
async function useUp(api: Api, keys: string[], each = 5): Promise<Answer[]> {
  const tokens = keys.flatMap((key) => Array<string>(each).fill(key))
  return Promise.all(tokens.map((token) => api.call('GET', rules, { token })))
}

/** How many requests each bucket above callers refused. */
async function countRefused({ app }: Api): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${app.metricsPort}/metrics`)).text()
  const counts = [...text.matchAll(/^automation_rate_limited_total\{bucket="(\w+)"\} (\d+)$/gm)]
  return Object.fromEntries(counts.map(([, bucket, count]) => [bucket, Number(count)]))
}

for (const [where, settings] of [
  ['with Redis', {}],
  ['without Redis', { REDIS_URL: 'redis://127.0.0.1:1' }],
] as const) {
  t.test(`${where}, ten keys of one workspace together get no more than its bucket`, async (t) => {
    const api = await startApi(t, { ...env, ...settings }, upper)
    const workspace = await api.makeWorkspace()
    const keys = await addKeys(api, workspace, 10)
    const answers = await useUp(api, keys)
    t.equal(answers.filter(isLet).length, 12)
    for (const refused of answers.filter((answer) => !isLet(answer))) {
      t.match({ status: refused.status, body: refused.body }, limited)
      t.match(refused.headers['retry-after'], /^[1-9]\d*$/)
    }
    const member = await workspace.call('GET', rules)
    t.equal(member.status, 429, 'its users have no tokens beyond it either')
    t.strictSame(headersOf(member), { limit: 12, remaining: 0 }, 'the headers are those of the empty bucket')
    const other = await api.makeWorkspace()
    t.strictSame(headersOf(await other.call('GET', rules)), { limit: 5, remaining: 4 })
  })

  t.test(`${where}, workspaces of one creator together get no more than its bucket`, async (t) => {
    const api = await startApi(t, { ...env, ...settings }, upper)
    const createdBy = `user:${newId()}`
    const created = await makeCreated(api, 3, createdBy)
    const keys = (await Promise.all(created.map((workspace) => addKeys(api, workspace, 3)))).flat()
    const answers = await useUp(api, keys)
    t.equal(answers.filter(isLet).length, 20)
    const [idle] = await makeCreated(api, 1, createdBy)
    const refused = await idle?.call('GET', rules)
    t.match(refused, { status: 429, headers: { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '0' } })
    const [stranger] = await makeCreated(api, 1)
    t.equal((await stranger?.call('GET', rules))?.status, 200, 'another creator is not concerned')
  })
}

t.test('the headers describe the bucket with the fewest tokens left', async (t) => {
  const api = await startApi(t, env, upper)
  const workspace = await api.makeWorkspace()
  const keys = await addKeys(api, workspace, 3)
  const seen: object[] = []
  for (const token of keys)
    for (let n = 0; n < 4; n++) seen.push(headersOf(await api.call('GET', rules, { token })))
  const own = [4, 3, 2, 1].map((remaining) => ({ limit: 5, remaining }))
  t.strictSame(seen, [
    ...own,
    ...own,
    { limit: 12, remaining: 3 },
    { limit: 12, remaining: 2 },
    { limit: 12, remaining: 1 },
    { limit: 12, remaining: 0 },
  ])
})

t.test('a caller that is refused takes nothing from the others of its workspace', async (t) => {
  const api = await startApi(t, env, upper)
  const workspace = await api.makeWorkspace()
  const [runaway = '', quiet = ''] = await addKeys(api, workspace, 2)
  t.equal((await useUp(api, [runaway], 40)).filter(isLet).length, 5)
  t.equal((await useUp(api, [quiet], 5)).filter(isLet).length, 5)
})

t.test('a stranger who names a workspace consumes nothing of it', async (t) => {
  const api = await startApi(t, env, upper)
  const [workspace] = await makeCreated(api, 1)
  if (workspace === undefined) return
  for (let n = 0; n < 5; n++) {
    const token = await mint(`stranger-${newId()}`)
    for (let m = 0; m < 5; m++) await api.call('GET', rules, { token, workspace: workspace.id })
  }
  const [key = ''] = await addKeys(api, workspace, 1)
  t.strictSame(headersOf(await api.call('GET', rules, { token: key })), { limit: 5, remaining: 4 })
})

t.test('metrics say which bucket refused', async (t) => {
  const api = await startApi(t, env, upper)
  const [first, second] = await makeCreated(api, 2)
  if (first === undefined || second === undefined) return
  const [one = '', ...others] = await addKeys(api, first, 4)
  await useUp(api, [one], 6)
  t.match(await countRefused(api), { authenticated: 1, workspace: 0, creator: 0 })
  await useUp(api, others.slice(0, 2), 4)
  t.match(await countRefused(api), { authenticated: 1, workspace: 1, creator: 0 })
  await useUp(api, await addKeys(api, second, 2), 5)
  t.match(await countRefused(api), { authenticated: 1, workspace: 1, creator: 2 })
})

t.test('a batch pays in the upper buckets, too', async (t) => {
  const api = await startApi(t, env, { ...upper, workspace: bucket(9) })
  const workspace = await api.makeWorkspace()
  const keys = await addKeys(api, workspace, 3)
  const post = (token = '') =>
    api.call('POST', `${rules}/trigger/LEAD_CREATED/batch`, {
      token,
      body: { events: Array.from({ length: 200 }, () => ({ data: {} })) },
    })
  t.equal((await post(keys[0])).status, 202)
  t.strictSame(headersOf(await post(keys[1])), { limit: 5, remaining: 1 })
  const refused = await post(keys[2])
  t.match({ status: refused.status, body: refused.body }, limited)
  t.strictSame(headersOf(refused), { limit: 9, remaining: 0 })
  t.match(await countRefused(api), { authenticated: 0, workspace: 1, creator: 0 })
  t.equal(await workspace.database.event.count(), 400)
})

t.test('no batch costs more than a full upper bucket has', async (t) => {
  const api = await startApi(t, env, { ...upper, workspace: bucket(3) })
  const { call } = await api.makeWorkspace()
  const body = { events: Array(500).fill({ data: {} }) }
  const answer = await call('POST', `${rules}/trigger/LEAD_CREATED/batch`, { body })
  t.equal(answer.status, 202)
  t.strictSame(headersOf(answer), { limit: 3, remaining: 0 })
})

for (const path of ['/api/executions/retry', '/api/events/replay'])
  t.test(`each 50 matches of ${path} cost a token, all of them or none`, async (t) => {
    const api = await startApi(t, env, upper)
    const workspace = await api.makeWorkspace()
    const rule = await storeRule(workspace)
    for (let n = 0; n < 51; n++) {
      const event = await storeEvent(workspace, { ruleIds: [rule.id] })
      await storeExecution(workspace, event, rule.id, { status: 'failed' })
    }
    const ask = (role: 'admin' | 'operator', dryRun: boolean) =>
      workspace.callAs(role)('POST', path, { body: { filter: {}, dryRun } })
    for (const remaining of [4, 3, 2, 1])
      t.strictSame(headersOf(await ask('admin', true)), { limit: 5, remaining }, 'a dry run costs one')
    t.match(await ask('admin', false), limited)
    t.equal(await workspace.database.event.count(), 51, 'nothing was replayed')
    t.equal(await workspace.database.execution.count({ where: { status: 'failed' } }), 51, 'or retried')
    const paid = await ask('operator', false)
    t.equal(paid.status, 202)
    t.strictSame(headersOf(paid), { limit: 5, remaining: 3 })
  })

t.test('webhooks have a bucket of their creator apart from that of calls', async (t) => {
  const api = await startApi(t, env, { workspace: bucket(1), creator: bucket(1) })
  const created = await makeCreated(api, 3)
  const senders = await Promise.all(created.map((workspace) => makeSender(api, workspace)))
  const statuses: number[] = []
  for (const sender of senders) for (let n = 0; n < 4; n++) statuses.push((await sender.deliver({})).status)
  t.strictSame(statuses, [...Array(10).fill(202), ...Array(2).fill(429)], 'ten for each call')
  t.match(await countRefused(api), { webhooks: 0, workspace: 0, creator: 2 })
})
