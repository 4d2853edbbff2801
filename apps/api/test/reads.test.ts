import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'

const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL })

const later = { prefer: 'respond-async' }
interface RuleList {
  rules: { id: string; description: string }[]
  nextCursor?: string | null
}

t.test('a query that takes too long is refused, and nobody else waits for it', async (t) => {
  const impatient = await startApi(t, { DATABASE_URL, READ_TIMEOUT: '300' })
  const busy = await impatient.makeWorkspace()
  const quiet = await impatient.makeWorkspace()
  await impatient.app.database.system.$transaction(
    async (transaction) => {
      // A query of tasks waits, as if the table were large.
      await transaction.$executeRaw`LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE`
      const asked = Array.from({ length: 40 }, () => busy.call('GET', '/api/tasks?limit=10'))
      const event = { body: { data: {} }, headers: later }
      t.equal((await quiet.call('POST', `${rules}/trigger/LEAD_CREATED`, event)).status, 202)
      t.equal((await quiet.call('GET', rules)).status, 200)
      const answers = await Promise.all(asked)
      const countOf = (status: number) => answers.filter((answer) => answer.status === status).length
      t.equal(countOf(400), 40, 'each in its turn, two at a time')
      t.match(answers[0]?.body, { error: /READ_TIMEOUT/ })
    },
    { timeout: 60_000 },
  )
  t.equal((await busy.call('GET', '/api/tasks')).status, 200)
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
