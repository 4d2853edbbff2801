import { newId, openPatiently } from '@automation/database'
import t from 'tap'
import { narrowEvents } from '../src/list-events.js'
import { findReplayable } from '../src/replayable-events.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

/** Each by itself: the JSON of their data. */
const mebibyte = 1_048_576
const dataOf = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })

t.test('a page of replayable events ends with the event that completes 4 MiB', async (t) => {
  const workspaceId = newId()
  await database.system.workspace.create({ data: { id: workspaceId, name: 'Tests' } })
  const sizes = [2 * mebibyte - 1, 2 * mebibyte, 1_000, 1_000, 5 * mebibyte, 1_000]
  const ids: string[] = []
  for (const bytes of sizes) {
    const row = { id: newId(), workspaceId, type: 'LEAD_CREATED', doneAt: new Date() }
    await database.system.event.create({ data: { ...row, data: dataOf(bytes) } })
    ids.push(row.id)
  }
  const pages: string[][] = []
  const narrowing = narrowEvents(workspaceId, {})
  for (let after: string | undefined; pages.at(-1)?.length !== 0; after = pages.at(-1)?.at(-1)) {
    const page = await findReplayable(database.system, narrowing, after, 100)
    pages.push(page.map(({ id }) => id))
  }
  t.strictSame(pages, [ids.slice(0, 3), ids.slice(3, 5), ids.slice(5), []])
})
