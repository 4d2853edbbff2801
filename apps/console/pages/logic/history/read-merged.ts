interface Page<Row> {
  rows: Row[]
  nextCursor: string | null
}

/**
 * Reads several lists as one, newest first. A row comes once every list has been read as far as it: those beyond stay in the cursor
 * until then.
 *
 * @param reads read a page of one list each. Ids are in the order of time
 */
export async function readMerged<Row extends { id: string }>(
  reads: readonly ((cursor?: string) => PromiseLike<Page<Row>>)[],
  cursor?: string,
): Promise<Page<Row>> {
  const { cursors, held } = (cursor === undefined ? { cursors: [], held: [] } : JSON.parse(cursor)) as {
    cursors: (string | null)[]
    held: Row[]
  }
  const pages = await Promise.all(
    reads.map((read, index) => {
      const from = cursors[index]
      return from === null ? { rows: [], nextCursor: null } : read(from)
    }),
  )
  const found = [...held, ...pages.flatMap(({ rows }) => rows)].sort((left, right) =>
    left.id < right.id ? 1 : -1,
  )
  const unfinished = pages.filter(({ nextCursor }) => nextCursor !== null)
  const reached = unfinished.map(({ rows }) => rows.at(-1)?.id ?? '').sort()
  const end = reached.at(-1) ?? ''
  const next = {
    cursors: pages.map(({ nextCursor }) => nextCursor),
    held: found.filter(({ id }) => id < end),
  }
  return {
    rows: found.filter(({ id }) => id >= end),
    nextCursor: unfinished.length === 0 ? null : JSON.stringify(next),
  }
}
