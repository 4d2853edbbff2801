import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { createWorkspace } from '@automation/access'
import { executionIdOf, openPatiently, timeOf } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { auditLedger, createHistoryRemoval } from '@automation/ledger'
import t from 'tap'
import { sizesOf } from '../src/history/benchmark.js'
import { bytesNeeded, requireSpace } from '../src/history/disk.js'
import { makeWeeks, readPastWeeks } from '../src/history/make-weeks.js'
import { measureSizes } from '../src/history/storage.js'
import { copyRows, lineOf } from '../src/stored/copy-rows.js'
import { type History, linesOf, type Pattern } from '../src/stored/history-rows.js'
import { insertHistory } from '../src/stored/insert-history.js'
import { insertRules } from '../src/stored/insert-rules.js'
import { withPostgres } from '../src/with-postgres.js'

const dayMs = 24 * 60 * 60 * 1_000

const patternOf = (workspaceId: string, ruleId: string): Pattern => ({
  ...{ workspaceId, ruleId, ruleSetId: randomUUID(), rulesVersion: 1, ruleVersion: 1 },
  ...{ results: '[{"action":"CREATE_TASK","status":"success"}]', taskTitle: 'Call', taskPriority: 'normal' },
})

const patterns = Array.from({ length: 4 }, () => patternOf(randomUUID(), randomUUID()))
const history: History = { patterns, events: 2_000, days: 60, endsAt: Date.UTC(2026, 10, 29) }
const rowsOf = (wanted: History) => Array.from({ length: wanted.events }, (_, n) => linesOf(wanted, n))
const valuesOf = (line = '') => line.trimEnd().split('\t')

t.test('the same history has the same rows, and another event is another one', async (t) => {
  t.same(rowsOf(history), rowsOf({ ...history }))
  t.equal(new Set(rowsOf(history).map(({ events }) => events)).size, history.events)
})

t.test(
  'ids are in order of time over the whole span, and those of executions follow from them',
  async (t) => {
    const rows = rowsOf(history)
    const ids = rows.map(({ events }) => valuesOf(events)[0] ?? '')
    t.same(ids, ids.toSorted())
    t.equal(timeOf(ids[0] ?? ''), history.endsAt - 60 * dayMs)
    t.ok(timeOf(ids.at(-1) ?? '') < history.endsAt)
    for (const { events, executions, tasks } of rows) {
      const [id = '', workspaceId] = valuesOf(events)
      const [executionId, ofWorkspace, eventId, , ruleId = ''] = valuesOf(executions)
      t.equal(executionId, executionIdOf({ id, addressee: null }, ruleId))
      t.same([ofWorkspace, eventId], [workspaceId, id])
      if (tasks !== undefined) t.same(valuesOf(tasks).slice(1, 3), [workspaceId, executionId])
    }
  },
)

t.test(
  'each workspace has about as many events as another one, and failed executions have no task',
  async (t) => {
    const rows = rowsOf(history)
    for (const { workspaceId } of patterns) {
      const own = rows.filter(({ events }) => valuesOf(events)[1] === workspaceId)
      t.ok(own.length > 400 && own.length < 600, `${own.length} of 2,000`)
    }
    const failed = rows.filter(({ executions }) => valuesOf(executions)[6] === 'failed')
    t.equal(failed.length, history.events / 50)
    t.ok(failed.every(({ tasks }) => tasks === undefined))
    t.equal(rows.filter(({ tasks }) => tasks === undefined).length, failed.length)
  },
)

t.test('the short history has a tenth of the long one, and at most what a search reads', async (t) => {
  const eventsOf = (stored: number) => sizesOf(stored).map(({ events }) => events)
  t.same(eventsOf(2_000), [200, 2_000])
  t.same(eventsOf(30_000_000), [20_000, 30_000_000])
})

t.test('a run that needs more than the disk has is refused, with both sizes', async (t) => {
  await t.rejects(requireSpace(tmpdir(), 1e18), {
    message: /has [\d.,]+ GB free, and 1,000,000,000 GB are needed/,
  })
  await t.resolves(requireSpace(tmpdir(), 1))
  t.ok(bytesNeeded(30_000_000) > 30_000_000 * 1_300)
})

t.test('a stored history reconciles, and retention finds half of it', async (t) => {
  const url = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
  const database = openPatiently(url, 2)
  t.teardown(() => database.close())
  await withPostgres(url, async (postgres) => {
    const stored: Pattern[] = []
    for (const name of ['One', 'Two']) {
      const { id } = await createWorkspace({ database, actor: 'cli:test' }, { name, adminUserId: name })
      await insertRules(postgres, id, 1)
      const rule = await database.forWorkspace(id).rule.findFirstOrThrow()
      stored.push(patternOf(id, rule.id))
    }
    await makeWeeks(postgres, url, history.days)
    const told: number[] = []
    const endsAt = Date.now()
    const past = { ...history, patterns: stored, endsAt }
    await insertHistory(postgres, past, async (inserted) => void told.push(inserted))
    t.same(told, [0], 'before each slice it can be refused')
    const { rows: outside } = await postgres.query(
      'SELECT 1 FROM history.events_low UNION ALL SELECT 1 FROM history.events_high',
    )
    t.equal(outside.length, 0)
    t.same(new Set((await readPastWeeks(postgres)).map(({ from, to }) => to - from)), new Set([7 * dayMs]))
    const audit = await auditLedger(database, {
      ...{
        workspaceId: undefined,
        from: endsAt - 61 * dayMs,
        to: endsAt + dayMs,
        keptSince: 0,
        budgetMs: 10_000,
      },
    })
    t.same(audit.faults, [])
    t.match(audit.events, { fromOutside: history.events, done: history.events, waiting: 0 })
    t.equal(audit.executions.succeeded, history.events * 0.98)
    const sizes = Object.fromEntries(await measureSizes(postgres, history.events))
    t.ok(sizes.events_pkey?.MB)
    const [all = 0, ...others] = ['all', ...Object.keys(sizes).filter((name) => name !== 'all')].map((name) =>
      Math.round((sizes[name]?.MB ?? Number.NaN) * 1e6),
    )
    t.equal(
      all,
      others.reduce((sum, bytes) => sum + bytes),
    )

    const remove = createHistoryRemoval(endsAt, 30)
    let removed = 0
    for (let isOver = false; !isOver; ) {
      const batch = await database.system.$transaction((transaction) => remove(transaction, 500))
      removed += batch.removed
      isOver = batch.isOver
    }
    t.ok(removed > history.events - 10 && removed <= history.events, `${removed} rows of 1,000 events`)
  })
})

t.test('COPY keeps what would end a value or a line, and says why it refuses a row', async (t) => {
  await withPostgres(process.env.DATABASE_URL ?? '', async (postgres) => {
    await postgres.query('CREATE TEMPORARY TABLE copied (id int PRIMARY KEY, text text)')
    const copied = { table: 'copied', columns: ['id', 'text'] }
    const texts = ['\\N', 'a\tb\nc\rd\\', '', null]
    await copyRows(
      postgres,
      copied,
      texts.map((text, id) => lineOf([id, text])),
    )
    const { rows } = await postgres.query('SELECT text FROM copied ORDER BY id')
    t.same(
      rows.map(({ text }) => text),
      texts,
    )
    await t.rejects(copyRows(postgres, copied, [lineOf([0, 'again'])]), { code: '23505' })
    await t.resolves(postgres.query('SELECT 1'), 'the connection goes on')
  })
})
