import { setTimeout } from 'node:timers/promises'
import { databaseLimitsOf, newId, patientLimitsOf } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { type Answer, type Api, ruleBody, rules, startApi } from './fixtures/api.js'
import { statementsOf } from './fixtures/security/sql-recorder.js'

const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL })

const later = { prefer: 'respond-async' }
interface RuleList {
  rules: { id: string; description: string }[]
  nextCursor?: string | null
}

/** How many queries were refused for each reason. */
async function countRefused({ app }: Api): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${app.metricsPort}/metrics`)).text()
  const counts = [...text.matchAll(/^automation_reads_refused_total\{reason="(\w+)"\} (\d+)$/gm)]
  return Object.fromEntries(counts.map(([, reason, count]) => [reason, Number(count)]))
}

t.test('a query that takes too long is refused, and nobody else waits for it', async (t) => {
  const impatient = await startApi(
    t,
    { DATABASE_URL, METRICS_PORT: '0' },
    { database: { ...patientLimitsOf(5), reads: databaseLimitsOf(5).reads } },
  )
  const busy = await impatient.makeWorkspace()
  const quiet = await impatient.makeWorkspace()
  await impatient.app.database.system.$transaction(async (transaction) => {
    // A query of tasks waits, as if the table were large.
    await transaction.$executeRaw`LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE`
    const asked = Array.from({ length: 8 }, () => busy.call('GET', '/api/tasks?limit=10'))
    const event = { body: { data: {} }, headers: later }
    t.equal((await quiet.call('POST', `${rules}/trigger/LEAD_CREATED`, event)).status, 202)
    t.equal((await quiet.call('GET', rules)).status, 200)
    const answers = await Promise.all(asked)
    const countOf = (status: number) => answers.filter((answer) => answer.status === status).length
    t.equal(countOf(400), 8, 'each in its turn, two at a time')
    t.match(answers[0]?.body, { error: /timed out after 2000 ms/ })
  })
  t.strictSame(await countRefused(impatient), { too_long: 8, too_many: 0 })
  t.equal((await busy.call('GET', '/api/tasks')).status, 200)
})

t.test(
  'two queries of an owner run and 256 wait, further ones are refused, and others read beside them',
  async (t) => {
    const own = await startApi(t, { DATABASE_URL, METRICS_PORT: '0' })
    const busy = await own.makeWorkspace()
    const quiet = await own.makeWorkspace()
    const answers: Answer[] = []
    const ask = async () => void answers.push(await busy.call('GET', '/api/tasks'))
    const { asked } = await own.app.database.system.$transaction(async (transaction) => {
      await transaction.$executeRaw`LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE`
      const asked = Array.from({ length: 261 }, ask)
      while (answers.length < 3) await setTimeout(20)
      t.equal((await quiet.call('GET', rules)).status, 200)
      const refusal = {
        status: 429,
        headers: { 'retry-after': /^[1-9]/ },
        body: { error: /^Too many of your requests/ },
      }
      t.match(answers, Array(3).fill(refusal))
      return { asked }
    })
    await Promise.all(asked)
    t.equal(answers.filter(({ status }) => status === 200).length, 258)
    t.strictSame(await countRefused(own), { too_long: 0, too_many: 3 })
  },
)

t.test('a hundred callers who list the same rules at a time are all served', async (t) => {
  const own = await startApi(t, { DATABASE_URL })
  const { call } = await own.makeWorkspace()
  await call('POST', rules, { body: ruleBody() })
  const { asked } = await own.app.database.system.$transaction(async (transaction) => {
    await transaction.$executeRaw`LOCK TABLE rules IN ACCESS EXCLUSIVE MODE`
    const asked = Array.from({ length: 100 }, () => call('GET', rules))
    await setTimeout(500)
    return { asked }
  })
  const answers = await Promise.all(asked)
  t.strictSame(
    answers.map(({ status, body }) => [status, (body as Partial<RuleList>).rules?.length]),
    Array(100).fill([200, 1]),
  )
})

interface PlanNode {
  'Index Name'?: string
  Plans?: PlanNode[]
}

function indexesOf({ Plans = [], ...node }: PlanNode): string[] {
  // That of each leaf is one index.
  const name = node['Index Name']?.replace(/_(low|high)_/, '_')
  return [...new Set([...(name === undefined ? [] : [name]), ...Plans.flatMap(indexesOf)])]
}

t.test('each filter of tasks and of audit entries has its index', async (t) => {
  const { id: workspaceId, call } = await api.makeWorkspace()
  const { system, run } = api.app.database
  // Each rule, actor and subject has a hundredth of the rows, and so has one of the two actions.
  const ruleId = '00000000-0000-4000-8000-000000000007'
  await system.$executeRaw`
    INSERT INTO tasks (id, workspace_id, execution_id, action_index, rule_id, title, priority, created_at)
    SELECT gen_random_uuid(), ${workspaceId}::uuid, gen_random_uuid(), 0,
           ('00000000-0000-4000-8000-' || lpad((n % 100)::text, 12, '0'))::uuid, 'Call', 'normal', now()
    FROM generate_series(1, 20000) AS n`
  await system.$executeRaw`
    INSERT INTO audit_entries (id, workspace_id, actor, action, subject, details)
    SELECT gen_random_uuid(), ${workspaceId}::uuid, 'user:' || n % 100,
           CASE WHEN n % 100 = 0 THEN 'rule.created' ELSE 'rule.updated' END, 'subject-' || n % 100, '{}'
    FROM generate_series(1, 20000) AS n`
  await system.$executeRaw`ANALYZE tasks, audit_entries`
  const audit = '/api/developer/v1/audit-log'
  for (const [path, table, index] of [
    [`/api/tasks?ruleId=${ruleId}`, 'tasks', 'tasks_rule_id_id_idx'],
    [`${audit}?actor=user:7`, 'audit_entries', 'audit_entries_workspace_id_actor_id_idx'],
    [`${audit}?subject=subject-7`, 'audit_entries', 'audit_entries_workspace_id_subject_id_idx'],
    [`${audit}?action=rule.created`, 'audit_entries', 'audit_entries_workspace_id_action_id_idx'],
  ] as const) {
    const statements = await statementsOf(() => call('GET', path))
    const asked = statements.filter(({ text }) =>
      text.replaceAll('"', '').match(`FROM (public\\.)?${table} `),
    )
    t.equal(asked.length, 1, path)
    for (const { text, values } of asked) {
      const [row] = await run<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `explain ${path}`,
        `EXPLAIN (FORMAT JSON) ${text}`,
        values,
      )
      const used = row ? indexesOf(row['QUERY PLAN'][0].Plan) : []
      // Each task of the page asks its execution for the event.
      const [others, own] = [/^executions_/, new RegExp(`^${table}_`)].map((of) =>
        used.filter((name) => of.test(name)),
      )
      t.strictSame(own, [index], path)
      t.equal(others?.length, table === 'tasks' ? 1 : 0, path)
    }
  }
})

t.test('the rules of a workspace have a size, and lists show large rules in parts', async (t) => {
  const { id: workspaceId, call, database } = await api.makeWorkspace()
  const conditions = (n: number) => [{ field: 'x', operator: 'in', value: [`${n}`.padEnd(240_000, 'x')] }]
  const fields = {
    workspaceId,
    name: 'Large',
    description: '',
    trigger: 'LEAD_CREATED',
    actions: [],
    isActive: false,
  }
  const ids = Array.from({ length: 69 }, newId)
  for (const [n, id] of ids.entries())
    await database.rule.create({
      data: { ...fields, id, conditions: conditions(n), counters: { create: { workspaceId } } },
    })
  const small = await call<{ id: string }>('POST', rules, { body: ruleBody() })
  t.equal(small.status, 201)
  const refused = await call('POST', rules, { body: { ...ruleBody(), conditions: conditions(70) } })
  t.match(refused, { status: 409, body: { error: /16 MiB/ } })
  const grown = await call('PUT', `${rules}/${small.body.id}`, { body: { conditions: conditions(70) } })
  t.match(grown, { status: 409 })
  t.equal((await call('PUT', `${rules}/${ids[0]}`, { body: ruleBody() })).status, 200, 'a rule may shrink')

  const all = await call<RuleList>('GET', rules)
  t.same(
    all.body.rules.map(({ id }) => id),
    [...ids, small.body.id].reverse(),
    'all of them, newest first',
  )
  t.match(all.headers, { 'content-type': /^application\/json/ })
  const listed: string[] = []
  let cursor = ''
  for (;;) {
    const page = await call<RuleList>('GET', `${rules}?limit=250${cursor}`)
    t.ok(page.body.rules.length <= 20, `${page.body.rules.length} of 240 KB on a page`)
    listed.push(...page.body.rules.map(({ id }) => id))
    if (!page.body.nextCursor) break
    cursor = `&cursor=${page.body.nextCursor}`
  }
  t.same(
    listed,
    all.body.rules.map(({ id }) => id),
  )
})
