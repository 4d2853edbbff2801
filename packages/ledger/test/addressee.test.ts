import { newId, openDatabase, Prisma } from '@automation/database'
import t from 'tap'
import { addresseeOf, isNoDelivery, subscriptionOf } from '../src/addressee.js'

const [rule, subscription] = [newId(), newId()]

/** Rows as this version and the one before write them. */
const rows = {
  'an event for all rules': {
    row: { type: 'LEAD_CREATED', ruleId: null, subscriptionId: null },
    addressee: null,
  },
  'a rule that is executed by hand': {
    row: { type: 'LEAD_CREATED', ruleId: rule, subscriptionId: null },
    addressee: { kind: 'rule', id: rule },
  },
  'a delivery': {
    row: { type: 'rule.updated', ruleId: subscription, subscriptionId: subscription },
    addressee: { kind: 'subscription', id: subscription },
  },
  'a delivery, whatever its type': {
    row: { type: 'LEAD_CREATED', ruleId: subscription, subscriptionId: subscription },
    addressee: { kind: 'subscription', id: subscription },
  },
  'a delivery of the version before': {
    row: { type: 'rule.updated', ruleId: subscription, subscriptionId: null },
    addressee: { kind: 'subscription', id: subscription },
  },
} as const

t.test('who a row is for, in TypeScript and in SQL', async (t) => {
  const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
  t.teardown(() => database.close())
  for (const [name, { row, addressee }] of Object.entries(rows)) {
    t.strictSame(addresseeOf(row), addressee, name)
    const { type, ruleId, subscriptionId } = row
    const columns = Prisma.sql`${type}::text, ${ruleId}::uuid, ${subscriptionId}::uuid`
    const found = await database.system.$queryRaw<object[]>(Prisma.sql`
      SELECT ${subscriptionOf.events} AS event, ${subscriptionOf.executions} AS execution
      FROM (VALUES (${columns})) AS events (type, rule_id, subscription_id)
      CROSS JOIN (VALUES (${columns})) AS executions (event_type, rule_id, subscription_id)`)
    const id = addressee?.kind === 'subscription' ? addressee.id : null
    t.strictSame(found, [{ event: id, execution: id }], name)
  }
})

t.test(
  'Postgres takes it that nearly all rows are no delivery, also before it knows the new column',
  async (t) => {
    const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
    t.teardown(() => database.close())
    const undone = new Error('undone')
    await t.rejects(
      database.system.$transaction(async (transaction) => {
        await transaction.$executeRaw`
        INSERT INTO events (id, workspace_id, type, data)
        SELECT gen_random_uuid(), gen_random_uuid(), 'LEAD_CREATED', '{}' FROM generate_series(1, 1000)`
        await transaction.$executeRaw`ANALYZE events (type)`
        const [plan] = await transaction.$queryRaw<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }[]>(
          Prisma.sql`EXPLAIN (FORMAT JSON) SELECT FROM events WHERE ${isNoDelivery.events}`,
        )
        t.ok(Number(plan?.['QUERY PLAN'][0].Plan['Plan Rows']) > 900)
        throw undone
      }),
      undone,
    )
  },
)
