import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { listSources, root } from './fixtures/list-sources.js'
import { leafCount, leavesFromNow, makeLeaves } from './fixtures/make-leaves.js'
import { runStatements } from './fixtures/run-statements.js'
import { watchLeaves } from './fixtures/watch-leaves.js'

const files = await listSources()
const sources = await Promise.all(files.map((name) => readFile(join(root, name), 'utf8')))
const texts = sources.filter((_, index) => /^packages\/(ledger|history)\//.test(files[index] ?? ''))

/** The parts that several statements have: name and text. */
const parts = new Map(
  texts.flatMap((text) =>
    [...text.matchAll(/^export const (\w+Sql) = `([^`]*)`$/gm)].map(([, name, sql]) => [name, sql] as const),
  ),
)

/** The constants that hold a statement: name and text. */
const statements = texts.flatMap((text) =>
  [...text.matchAll(/^const (\w+Sql) = `([^`]*)`$/gm)].map(([, name = '', sql = '']) => ({
    name,
    sql: withParts(sql),
  })),
)

function withParts(sql: string): string {
  const whole = sql.replace(/\$\{(\w+)\}/g, (place, name) => parts.get(name) ?? place)
  return whole === sql ? sql : withParts(whole)
}

t.test('each statement is a text with the parts that it names, and nothing else', async (t) => {
  const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
  t.teardown(() => database.close())
  t.ok(statements.length >= 14, `${statements.length} statements`)
  for (const { name, sql } of statements) {
    t.notMatch(sql, /\$\{/, `${name} contains no other text`)
    await t.resolves(
      database.system.$transaction(async (transaction) => {
        await transaction.$executeRawUnsafe(`PREPARE pasted AS ${sql}`)
        await transaction.$executeRawUnsafe('DEALLOCATE pasted')
      }),
      `Postgres prepares ${name}`,
    )
  }
})

// `SELECT id::text AS id … ORDER BY id` orders by the text, which no index has: Postgres then sorts all rows to find the first one.
t.test('no statement orders by what it has cast, under the name of its column', async (t) => {
  const faults = sources.flatMap((text, index) =>
    [...text.matchAll(/`[^`]*`/g)].flatMap(([sql]) =>
      [...sql.matchAll(/\b(\w+)::\w+ AS "?\1\b/g)]
        .filter(([, name]) => new RegExp(`ORDER BY[^)\`]*(?<![.\\w])${name}\\b`).test(sql))
        .map(([cast]) => `${files[index]}: ${cast}`),
    ),
  )
  t.strictSame(faults, [])
})

/** The names under which statements are prepared. */
const names = texts.flatMap((text) =>
  [...text.matchAll(/\brun(?:Urgent)?(?:<[^(]*>)?\(\s*'(\w+)'/g)].map(([, name = '']) => name),
)

/** From how many leaves of one table a statement reads at most, if it is more than one. What is unfinished, or waits, may be of any time. */
const leavesOf: Record<string, number> = {
  count_runs: leavesFromNow,
  count_waiting: leafCount,
  find_due: leafCount,
  find_first_due: leafCount,
  find_first_undone: leavesFromNow,
  find_new_due: leafCount,
  find_new_undone: leafCount,
  // A tree may seem a week older than its root.
  find_origins: leavesFromNow + 2,
  find_undone: leavesFromNow,
  note_crash: leafCount,
  note_unparked: leafCount,
  read_backlog: leafCount,
  unpark_events: leafCount,
  unpark_executions: leafCount,
  wake_waits: leafCount,
}

/** Those that are not run here: of keys, of batches, and what reads none of these tables. */
const others = `
  blame_rules close_batch count_restored_events count_restored_executions find_due_silences find_events_of_calls find_free_queues find_receipts find_suspended insert_suppressed list_due_ticks list_open_calls lock_handlers lock_keys lock_placed lock_undone
  make_ticks move_batches next_workspaces note_event_keys note_repeat note_rule note_sweep pass_rules read_batches read_collected read_key_states
  read_cluster_place read_unbegun replace_executions wake_late_waits wake_queues write_claims`

t.test('a statement reads the leaves of its ids, and no others', async (t) => {
  const database = openPatiently(await createPrivateDatabase(process.env.DATABASE_URL ?? ''), 3)
  t.teardown(() => database.close())
  await makeLeaves(database, 'events', 'executions', 'tasks')
  const opened = new Map<string, number>()
  await runStatements(database, watchLeaves(database, opened))
  for (const [name, leaves] of opened)
    t.ok(leaves <= (leavesOf[name] ?? 1), `${name} reads ${leaves} of ${leafCount} leaves`)
  const known = [...opened.keys(), ...others.trim().split(/\s+/)]
  t.strictSame(known.sort(), names.sort(), 'each named statement is known')
})
