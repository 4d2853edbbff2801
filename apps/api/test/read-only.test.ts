import { isDatabaseAway, newId, openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t, { type Test } from 'tap'
import { type Answer, ruleBody, rules, startApi } from './fixtures/api.js'

const url = new URL(await createPrivateDatabase(process.env.DATABASE_URL ?? ''))
const owner = openPatiently(url.href, 2)
t.teardown(() => owner.close())

/** A role of its own, as an operator sets it: the other tests of this server keep theirs. */
async function createRole(t: Test) {
  const role = `role_${newId().replaceAll('-', '_')}`
  const run = (sql: string) => owner.system.$executeRawUnsafe(sql)
  await run(`CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD 'secret'`)
  const own = new URL(url)
  own.username = role
  own.password = 'secret'
  t.teardown(() => run(`DROP ROLE ${role}`))
  return {
    url: own.href,
    async becomeReadOnly() {
      await run(`ALTER ROLE ${role} SET default_transaction_read_only = on`)
      await owner.system
        .$queryRaw`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${role}`
    },
    becomeWritable: () => run(`ALTER ROLE ${role} RESET default_transaction_read_only`),
  }
}

function assertRefused(t: Test, { status, headers, body }: Answer): void {
  t.strictSame(
    { status, retryAfter: headers['retry-after'], body },
    { status: 503, retryAfter: '1', body: { error: 'Service temporarily unavailable' } },
  )
}

/** A connection that has only read meanwhile is still read-only, and closed when it has to write. @returns the last status */
async function repeat(ask: () => Promise<Answer>): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const { status } = await ask()
    if (status !== 503 || attempt === 10) return status
  }
}

t.test('while Postgres is read-only, writes are refused with 503, and reads continue', async (t) => {
  const role = await createRole(t)
  const api = await startApi(t, { DATABASE_URL: role.url })
  const { call } = await api.makeWorkspace()
  const trigger = () =>
    call('POST', `${rules}/trigger/LEAD_CREATED`, {
      body: { data: {} },
      headers: { prefer: 'respond-async' },
    })
  const create = () => call('POST', rules, { body: ruleBody() })
  await role.becomeReadOnly()
  assertRefused(t, await trigger())
  assertRefused(t, await create())
  t.equal((await call('GET', rules)).status, 200)

  await role.becomeWritable()
  t.equal(await repeat(trigger), 202)
  t.equal(await repeat(create), 201, 'on a connection that was not opened before')
})

t.test('every statement that writes to a read-only Postgres may succeed later', async (t) => {
  const role = await createRole(t)
  await role.becomeReadOnly()
  const database = openPatiently(role.url, 3)
  t.teardown(() => database.close())
  const data = { id: newId(), name: 'Test' }
  const failures = await Promise.all(
    [
      database.run('insert_workspace', 'INSERT INTO workspaces (id, name) VALUES ($1, $2)', [
        newId(),
        'Test',
      ]),
      database.system.$executeRaw`INSERT INTO workspaces (id, name) VALUES (${newId()}::uuid, 'Test')`,
      database.system.workspace.create({ data }),
      database.system.$transaction((transaction) => transaction.workspace.create({ data })),
    ].map((written) => written.then(() => undefined, isDatabaseAway)),
  )
  t.strictSame(failures, [true, true, true, true])
})
