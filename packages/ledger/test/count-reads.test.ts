import { newId, openPatiently } from '@automation/database'
import t from 'tap'
import { countReads } from '../src/unfinished/count-reads.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

t.test(
  'the entries that a statement reads are counted, also those of the leaves of a partitioned table',
  async (t) => {
    const { system, run } = database
    const schema = `reads_${newId().replaceAll('-', '')}`
    t.teardown(() => system.$executeRawUnsafe(`DROP SCHEMA ${schema} CASCADE`))
    const statements = `
    CREATE SCHEMA ${schema};
    CREATE TABLE ${schema}.plain (id INT PRIMARY KEY, is_done BOOLEAN);
    CREATE INDEX plain_undone ON ${schema}.plain (id) WHERE NOT is_done;
    CREATE TABLE ${schema}.parted (id INT PRIMARY KEY, is_done BOOLEAN) PARTITION BY RANGE (id);
    CREATE INDEX parted_undone ON ${schema}.parted (id) WHERE NOT is_done;
    CREATE TABLE ${schema}.low PARTITION OF ${schema}.parted FOR VALUES FROM (MINVALUE) TO (100);
    CREATE TABLE ${schema}.high PARTITION OF ${schema}.parted FOR VALUES FROM (100) TO (MAXVALUE)`
    for (const statement of statements.split(';')) await system.$executeRawUnsafe(statement)
    for (const table of ['plain', 'parted']) {
      const name = `${schema}.${table}`
      await system.$executeRawUnsafe(
        `INSERT INTO ${name} SELECT n, n % 2 = 0 FROM generate_series(1, 200) AS n`,
      )
      const relations = [name, `${name}_undone`, `${name}_pkey`]
      const select = `SELECT count(*)::int AS count FROM ${name} WHERE before.read >= 0 AND NOT is_done`
      for (const isByIndex of [false, true]) {
        const others = isByIndex ? ['seqscan'] : ['indexscan', 'indexonlyscan', 'bitmapscan']
        const [counted] = await system.$transaction(async (transaction) => {
          for (const other of others) await transaction.$executeRawUnsafe(`SET LOCAL enable_${other} = OFF`)
          return transaction.$queryRawUnsafe<object[]>(countReads(relations, 'found.count', select))
        })
        t.strictSame(counted, { count: 100, read: isByIndex ? 100 : 200 }, `${table}, without ${others}`)
      }
      const [again] = await run<{ read: number }>(
        `read_${table}`,
        countReads(relations, 'found.count', select),
        [],
      )
      t.ok(again && again.read >= 100, 'by a statement with a name, too')
    }
  },
)
