import { setTimeout as delay } from 'node:timers/promises'
import { clockSkewMs, firstIdOf, leafNameOf, leavesLock, lowestIdLike } from '@automation/database'
import { createLeafExchange, dayMs, histories } from '@automation/ledger'
import type { Site } from './site.js'

/** A leaf of the storm, which is a week elsewhere (ms). */
const leafMs = 4_000
/** Leaves end so long ahead of all ids (ms). */
const aheadMs = 2 * leafMs
/** So long ago its leaf was the present (ms). */
const lateMs = 3_000
/** RETENTION_DAYS of the workers, which take steps of an exchange, too. */
const days = 30

export interface Turns {
  /** How many old leaves were dropped. */
  dropped(): number
  faults: string[]
  stop(): Promise<void>
}

export const noTurns: Turns = { dropped: () => 0, faults: [], stop: async () => {} }

/**
 * Turns weeks that last some seconds: each leaf is old when it is over, and is exchanged while its rows still change. All workspaces keep them for longer, so none
 * goes.
 */
export async function startTurns({ running, query }: Site): Promise<Turns> {
  await query('UPDATE workspaces SET retention_days = 3650')
  const cutNext = await startCuts(query)
  const { database } = running
  const faults: string[] = []
  let dropped = 0
  let isStopped = false
  const turning = (async () => {
    while (!isStopped) {
      await cutNext()
      const now = Date.now() - lateMs + days * dayMs + clockSkewMs
      const kept = { now, days, clocksAgree: true, onFault: (fault: string) => faults.push(fault) }
      const exchange = createLeafExchange(histories.events, kept)
      const step = await database.system
        .$transaction(async (transaction) => {
          const [lock] = await transaction.$queryRaw<{ isTaken: boolean }[]>`
            SELECT pg_try_advisory_xact_lock(${leavesLock}) AS "isTaken"`
          return lock?.isTaken ? exchange(transaction, 200) : undefined
        })
        // A server is away, or a backend was terminated: that is the storm.
        .catch(() => undefined)
      dropped += step?.removed ?? 0
      if (step?.isOver !== false) await delay(200)
    }
  })()
  return {
    dropped: () => dropped,
    faults,
    async stop() {
      isStopped = true
      await turning
    },
  }
}

/** Divides the leaf of the present. @returns a function that cuts the next leaf off what is left of it, if it is time */
async function startCuts(query: Site['query']): Promise<() => Promise<void>> {
  const found = await query<{ table: string; name: string; from: string; to: string | null }>(`
    SELECT inhparent::regclass::text AS table, relname AS name,
      substring(pg_get_expr(relpartbound, pg_class.oid) FROM 'FROM \\(''(.+)''\\) TO') AS from,
      substring(pg_get_expr(relpartbound, pg_class.oid) FROM 'TO \\(''(.+)''\\)') AS to
    FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent IN ('events'::regclass, 'executions'::regclass) AND relname !~ '_low$'`)
  let end = Date.now()
  const rests = found.filter(({ from, to }) => from <= idAt(end) && (to === null || to > idAt(end)))
  await cut(query, rests, (table) => `${table}_before`, end)
  const cutNext = async () => {
    if (end > Date.now() + aheadMs) return
    // On a busy machine, or without Postgres, what is left may have got rows meanwhile: then it is one leaf until now.
    const leaf = { from: end, to: Math.max(end, Date.now()) + leafMs }
    const from = idAt(end)
    const isCut = await cut(
      query,
      rests.map((rest) => ({ ...rest, from })),
      (table) => leafNameOf(table, leaf),
      leaf.to,
    ).then(
      () => true,
      () => false,
    )
    if (isCut) end = leaf.to
  }
  while (end <= Date.now() + aheadMs) await cutNext()
  return cutNext
}

function idAt(time: number): string {
  return lowestIdLike(firstIdOf(time))
}

interface Rest {
  table: string
  name: string
  from: string
  to: string | null
}

/** Makes the rest a leaf up to there, and a new rest behind it. @throws if somebody holds the leaves, or a row is behind it: then no leaf is made */
async function cut(
  query: Site['query'],
  rests: Rest[],
  nameOf: (table: string) => string,
  end: number,
): Promise<void> {
  const names = rests.flatMap(({ table, name }) => [`ONLY ${table}`, `history.${name}`])
  const statements = rests.flatMap(({ table, name, from, to }) => [
    `ALTER TABLE ${table} DETACH PARTITION history.${name}`,
    `ALTER TABLE history.${name} RENAME TO ${nameOf(table)}`,
    `ALTER TABLE ${table} ATTACH PARTITION history.${nameOf(table)} FOR VALUES FROM ('${from}') TO ('${idAt(end)}')`,
    `CREATE TABLE history.${name} PARTITION OF ${table} FOR VALUES FROM ('${idAt(end)}') TO (${to === null ? 'MAXVALUE' : `'${to}'`})`,
  ])
  await query(`
    BEGIN; SET LOCAL lock_timeout = '50ms'; SELECT pg_advisory_xact_lock(${leavesLock});
    LOCK TABLE ${names.join(', ')} IN ACCESS EXCLUSIVE MODE;
    ${statements.join('; ')}; COMMIT`)
}
