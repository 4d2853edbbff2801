import { useEffect, useState } from 'preact/hooks'
import { useLive } from './live.js'
import { describeError, useQuery } from './use-query.js'

interface Page<Row> {
  rows: Row[]
  nextCursor: string | null
}

interface Row {
  id: string
}

/** How many empty pages "Load older" skips by itself: a page may be empty before the last one. */
const maxSkipped = 5
/** The lists that grow with each event: they are told of new ones, and look by themselves only at what becomes of the others. */
const liveLists: readonly unknown[] = ['events', 'executions']
const livePollMs = 20_000

/**
 * A list of history, newest first. What is new is announced and never inserted above what is being read; what is shown keeps its
 * place and gets its new state.
 *
 * @param selectedId what the reader has opened: it is shown in the list also if it is new, such as an event that the reader has sent
 * @param isPolled false: it costs too much to be read by itself
 */
export function useList<Item extends Row>(
  key: readonly unknown[],
  read: (cursor?: string) => PromiseLike<Page<Item>>,
  selectedId?: string,
  { isPolled = true }: { isPolled?: boolean } = {},
) {
  const identity = JSON.stringify(key)
  const [older, setOlder] = useState<{ of: string; rows: Item[]; nextCursor: string | null } | undefined>()
  const [shownFrom, setShownFrom] = useState<{ of: string; id: string } | undefined>()
  const [isLoadingOlder, setLoadingOlder] = useState(false)
  const [problem, setProblem] = useState<string>()
  const isLive = isPolled && liveLists.includes(key[0])
  const pollMs = isPolled ? livePollMs : (false as const)
  const first = useQuery({
    key: [...key, 'pages'],
    read: () => read(),
    ...((isLive || !isPolled) && { pollMs }),
  })
  useLive(() => void first.refetch(), isLive)

  const latest = first.data?.rows ?? []
  const newestId = latest[0]?.id
  useEffect(() => {
    if (newestId !== undefined && shownFrom?.of !== identity) setShownFrom({ of: identity, id: newestId })
  }, [identity, newestId, shownFrom])

  const begin = shownFrom?.of === identity ? latest.findIndex(({ id }) => id <= shownFrom.id) : 0
  const newer = begin < 0 ? latest.length : begin
  const isSelectedNew = latest.slice(0, newer).some(({ id }) => id === selectedId)
  useEffect(() => {
    if (isSelectedNew && newestId !== undefined) setShownFrom({ of: identity, id: newestId })
  }, [isSelectedNew])
  const appended = older?.of === identity ? older : undefined
  const rows = join(latest.slice(newer), appended?.rows ?? [])
  const nextCursor = appended ? appended.nextCursor : (first.data?.nextCursor ?? null)

  async function loadOlder(): Promise<void> {
    setLoadingOlder(true)
    setProblem(undefined)
    try {
      let cursor = nextCursor
      const found: Item[] = []
      for (let skipped = 0; cursor !== null && found.length === 0 && skipped < maxSkipped; skipped++) {
        const page = await read(cursor)
        found.push(...page.rows)
        cursor = page.nextCursor
      }
      setOlder({ of: identity, rows: [...(appended?.rows ?? latest), ...found], nextCursor: cursor })
    } catch (error) {
      setProblem(describeError(error).text)
    } finally {
      setLoadingOlder(false)
    }
  }

  return {
    rows,
    first,
    newer,
    showNewer: () => newestId !== undefined && setShownFrom({ of: identity, id: newestId }),
    hasOlder: nextCursor !== null,
    loadOlder,
    isLoadingOlder,
    problem,
  }
}

/** A row that both lists have is shown once, in its newest state. */
function join<Item extends Row>(newest: Item[], older: Item[]): Item[] {
  const known = new Set(newest.map(({ id }) => id))
  return [...newest, ...older.filter(({ id }) => !known.has(id))]
}
