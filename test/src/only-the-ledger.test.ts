import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'

const root = new URL('../../../', import.meta.url).pathname
const tables = 'events|executions|tasks|rule_counters|rule_crashes'
const sql = new RegExp(`\\b(FROM|JOIN|INTO|UPDATE|USING|TABLE)\\s+(${tables})\\b`)
const write = /\.(event|execution|task|ruleCounters|ruleCrash)\.(create|update|upsert|delete)\w*\(/

async function listSources(): Promise<string[]> {
  const rooms: string[] = []
  for (const kind of ['apps', 'packages'])
    for (const name of await readdir(join(root, kind)))
      if (existsSync(join(root, kind, name, 'src'))) rooms.push(join(root, kind, name, 'src'))
  const lists = await Promise.all(
    rooms.map(async (room) =>
      (await readdir(room, { recursive: true })).map((name) => relative(root, join(room, name))),
    ),
  )
  return lists
    .flat()
    .filter((name) => name.endsWith('.ts') && !name.includes('/generated/'))
    .sort()
}

t.test('only packages/ledger has statements on events, executions, tasks and rule counters', async (t) => {
  const sources = await listSources()
  const found = { ledger: 0, elsewhere: [] as string[] }
  for (const name of sources) {
    const text = await readFile(join(root, name), 'utf8')
    if (!sql.test(text) && !write.test(text)) continue
    if (name.startsWith('packages/ledger/')) found.ledger += 1
    else found.elsewhere.push(name)
  }
  t.ok(found.ledger > 15, 'the patterns find statements')
  t.strictSame(found.elsewhere, [])
})
