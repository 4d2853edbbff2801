import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { listSources, root } from './fixtures/list-sources.js'

const tables = 'events|executions|tasks|rule_counters|rule_crashes'
const sql = new RegExp(`\\b(FROM|JOIN|INTO|UPDATE|USING|TABLE)\\s+(${tables})\\b`)
const write = /\.(event|execution|task|ruleCounters|ruleCrash)\.(create|update|upsert|delete)\w*\(/
/** What writes or locks rows of any table. */
const change =
  /\b(INSERT\s+INTO|UPDATE\s+\w+|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE|FOR\s+(NO\s+KEY\s+|KEY\s+)?(UPDATE|SHARE))\b|\$execute|\.(create|update|upsert|delete)(Many)?\(/

t.test(
  'only the ledger and the history have statements on events, executions, tasks and rule counters, and those of the history read',
  async (t) => {
    const found = { statements: { ledger: 0, history: 0 }, changes: 0, elsewhere: [] as string[] }
    for (const name of await listSources()) {
      const text = await readFile(join(root, name), 'utf8')
      const isStatement = sql.test(text) || write.test(text)
      if (name.startsWith('packages/ledger/')) {
        if (isStatement) found.statements.ledger++
        if (change.test(text)) found.changes++
      } else if (name.startsWith('packages/history/')) {
        if (isStatement) found.statements.history++
        if (change.test(text)) found.elsewhere.push(name)
      } else if (isStatement) found.elsewhere.push(name)
    }
    t.ok(found.statements.ledger > 15, 'the patterns find statements')
    t.ok(found.statements.history > 10, 'and reads')
    t.ok(found.changes > 15, 'and changes')
    t.strictSame(found.elsewhere, [])
  },
)
