import { type AttachedLeaf, firstIdOf, lowestIdLike, readLeaves, turnLeaves } from '@automation/database'
import type pg from 'pg'

const dayMs = 24 * 60 * 60 * 1_000
const weekMs = 7 * dayMs
/** A Monday. */
const firstWeek = Date.parse('1970-01-05T00:00:00Z')
/** Leaves of events are weeks. */
const eventDays = 56
const taskDays = 400

/** Makes the leaves that an installation has which is older than so many days. The tables are empty. */
export async function makeWeeks(postgres: pg.Client, databaseUrl: string, days: number): Promise<void> {
  const now = Date.now()
  const start = firstWeek + Math.floor((now - days * dayMs - firstWeek) / weekMs) * weekMs
  const edge = `'${lowestIdLike(firstIdOf(start))}'`
  for (const table of ['events', 'executions', 'tasks']) {
    const [low, high] = [`history.${table}_low`, `history.${table}_high`]
    for (const { name } of await readLeaves(postgres, table))
      await postgres.query(
        name === low || name === high
          ? `ALTER TABLE ${table} DETACH PARTITION ${name}`
          : `DROP TABLE ${name}`,
      )
    await postgres.query(
      `ALTER TABLE ${table} ATTACH PARTITION ${low} FOR VALUES FROM (MINVALUE) TO (${edge})`,
    )
    await postgres.query(
      `ALTER TABLE ${table} ATTACH PARTITION ${high} FOR VALUES FROM (${edge}) TO (MAXVALUE)`,
    )
  }
  for (let at = start - 2 * weekMs; at < now + weekMs; at += weekMs) {
    const days = { events: eventDays, tasks: taskDays }
    // A second step would drop the first ones, which are old and empty.
    const { undone } = await turnLeaves(databaseUrl, days, { now: Math.min(at, now), mostSteps: 1 })
    if (undone.length > 0) throw new Error(undone.join())
  }
}

/** Leaves of events whose time is over, the oldest first; not the one for all that is older. */
export async function readPastWeeks(postgres: pg.Client): Promise<AttachedLeaf[]> {
  const leaves = await readLeaves(postgres, 'events')
  return leaves.filter(({ from, to }) => from !== Number.NEGATIVE_INFINITY && to < Date.now())
}
