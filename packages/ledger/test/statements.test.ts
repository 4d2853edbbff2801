import { readFile } from 'node:fs/promises'
import t from 'tap'
import { mayRunSql } from '../src/may-run.js'

t.test('statements that are whole texts have the predicate of may-run.ts', async (t) => {
  const predicates = {
    'outcomes/parts-of-statements.ts': mayRunSql('handlers', 'pausing.is_by_hand'),
    'unfinished/claim-executions.ts': mayRunSql('r', 'c.id = c.event_id'),
  }
  for (const [name, predicate] of Object.entries(predicates)) {
    const text = await readFile(new URL(`../../src/${name}`, import.meta.url), 'utf8')
    t.ok(text.includes(predicate), name)
  }
})
