import t from 'tap'
import { readMerged } from '../../../pages/logic/history/read-merged.js'

/** A list of the API with pages of two. */
function listOf(ids: string[]) {
  const rows = ids.toSorted().reverse()
  return async (cursor?: string) => {
    const page = rows.filter((id) => cursor === undefined || id < cursor).slice(0, 2)
    const last = page.at(-1)
    const isEnd = last === undefined || last === rows.at(-1)
    return { rows: page.map((id) => ({ id })), nextCursor: isEnd ? null : last }
  }
}

t.test('two lists are read as one, each row once and in order over all pages', async (t) => {
  for (const [left, right] of [
    [
      ['9', '8', '7', '1'],
      ['6', '5', '4', '3', '2'],
    ],
    [
      ['9', '7', '5', '3', '1'],
      ['8', '6', '4', '2'],
    ],
    [[], ['2', '1']],
    [['1'], ['9', '8', '7', '6', '5']],
    [[], []],
  ] as const) {
    const reads = [listOf([...left]), listOf([...right])]
    const read: string[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < 10; pages++) {
      const page = await readMerged(reads, cursor)
      read.push(...page.rows.map(({ id }) => id))
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    t.strictSame(read, [...left, ...right].toSorted().reverse())
  }
})
