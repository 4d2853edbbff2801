import { randomBytes } from 'node:crypto'
import pg from 'pg'
import t from 'tap'
import { describeDatabaseError, isDatabaseAway, isReadOnly } from '../src/database-errors.js'
import { databaseLimitsOf } from '../src/database-limits.js'
import { openDatabase } from '../src/open.js'
import { PrimaryWatch, type ServerState } from '../src/primary-watch.js'
import { createDatabase, query, serverUrl } from './fixtures/scratch-databases.js'

const primary: ServerState = { isStandby: false, system: '7', timeline: 1 }
const standby: ServerState = { isStandby: true, system: '7', timeline: null }

function openWatch() {
  const lines: string[] = []
  const watch = new PrimaryWatch((line) => void lines.push(line))
  return { lines, watch }
}

t.test('a standby is refused like a write there, in one line, until it is promoted', async (t) => {
  const { lines, watch } = openWatch()
  watch.judge('a:1', primary)
  for (let attempt = 0; attempt < 3; attempt++) {
    const refused = capture(() => watch.judge('b:2', standby))
    t.ok(isReadOnly(refused) && isDatabaseAway(refused))
    t.equal(describeDatabaseError(refused), 'b:2 is a standby')
  }
  watch.judge('b:2', { ...primary, timeline: 2 })
  watch.judge('b:2', { ...primary, timeline: 2 })
  const told = ['Postgres takes no writes: b:2 is a standby', 'Postgres takes writes again at b:2']
  t.strictSame(lines, told)
  // An address that leads to both in turns fills no log.
  capture(() => watch.judge('b:2', standby))
  watch.judge('b:2', { ...primary, timeline: 2 })
  t.strictSame(lines, told)
})

t.test('a primary that a failover has replaced is refused; one of another cluster is not', async (t) => {
  const { watch } = openWatch()
  watch.judge('a:1', primary)
  watch.judge('b:2', { ...primary, timeline: 2 })
  const refused = capture(() => watch.judge('a:1', primary))
  t.equal(describeDatabaseError(refused), 'a:1 is an old primary (timeline 1, and 2 was reached before)')
  watch.judge('c:3', { ...primary, system: '8' })
})

t.test('a failover begins another history, and a server that says nothing of it is taken', async (t) => {
  const { watch } = openWatch()
  t.equal(watch.generation, '')
  watch.judge('a:1', primary)
  t.equal(watch.generation, '7/1')
  capture(() => watch.judge('b:2', standby))
  t.equal(watch.generation, '7/1')
  watch.judge('b:2', { ...primary, timeline: 2 })
  t.equal(watch.generation, '7/2')
  const { watch: plain } = openWatch()
  plain.judge('a:1', { ...primary, system: '', timeline: null })
  t.equal(plain.generation, '')
})

t.test('a connection to an old primary is not used again once the new one is seen', async (t) => {
  const { watch } = openWatch()
  const client = (timeline: number) => {
    const rows = [{ ...primary, timeline }]
    return { host: 'a', port: 1, query: async () => ({ rows }) } as unknown as Parameters<
      typeof watch.check
    >[0]
  }
  const isReplaced = await watch.check(client(1))
  t.notOk(isReplaced())
  await watch.check(client(2))
  t.ok(isReplaced())
})

t.test('a server that hides its control data is asked for the rest', async (t) => {
  const { watch } = openWatch()
  const asked: string[] = []
  const query = async (text: string) => {
    asked.push(text)
    if (text.includes('pg_control_system'))
      throw Object.assign(new pg.DatabaseError('no', 0, 'error'), { code: '42501' })
    return { rows: [{ ...standby, system: '' }] }
  }
  const client = { host: 'a', port: 1, query } as unknown as Parameters<typeof watch.check>[0]
  await t.rejects(watch.check(client), { message: 'a:1 is a standby' })
  await t.rejects(watch.check(client), { message: 'a:1 is a standby' })
  t.equal(asked.length, 3, 'and not asked again for what it hides')
  const { watch: another } = openWatch()
  await Promise.all(
    [1, 2].map(() => t.rejects(another.check(client), { message: 'a:1 is a standby' }, 'and at once')),
  )
})

t.test('a read-only primary serves reads', async (t) => {
  const id = randomBytes(6).toString('hex')
  const [name, role] = [`watched_${id}`, `plain_${id}`]
  const url = new URL(await createDatabase(name))
  // Without any right on what a server says of itself.
  await query(serverUrl, `CREATE ROLE ${role} LOGIN PASSWORD '${role}'`)
  url.username = url.password = role
  const { lines, watch } = openWatch()
  const database = openDatabase(url.href, 1, databaseLimitsOf(1), watch)
  t.teardown(async () => {
    await database.close()
    await query(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)
    await query(serverUrl, `DROP ROLE ${role}`)
  })
  const read = () => database.run('one', 'SELECT 1 AS one', [])
  t.same(await read(), [{ one: 1 }])
  await query(serverUrl, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  await query(serverUrl, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  // The end of the connection may be seen by a statement.
  let rows: object[] = []
  while (rows.length === 0) rows = await read().catch(() => [])
  t.same(rows, [{ one: 1 }])
  t.strictSame(lines, [])
})

function capture(work: () => void): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
