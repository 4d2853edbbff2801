import { firstIdOf, Prisma } from '@automation/database'
import { findUnknownZone, nextTick, type Schedule } from '@automation/engine'
import { type Inconsistency, maxIds, type Snapshot } from './slice.js'

/** The newest ticks that are compared, and how many due times are counted between two of them. */
const maxTicks = 2_000
const maxCounted = 1_000

/** Two ticks of a rule without one between them (epoch ms), since its schedule was last changed or switched on. */
interface TickPair {
  id: string
  schedule: Schedule
  before: number
  at: number
  missed: number
}

/** Compares the ticks of a time with what was due: each says how many between it and the one before it did not run. */
export async function compareTicks(
  snapshot: Snapshot,
  workspaceId: string | undefined,
  { from, to }: { from: number; to: number },
): Promise<Inconsistency[]> {
  const own =
    workspaceId === undefined ? Prisma.empty : Prisma.sql`AND rules.workspace_id = ${workspaceId}::uuid`
  const pairs = await snapshot.$queryRaw<TickPair[]>(Prisma.sql`
    WITH ticks AS (
      SELECT ticks.id, addressee_id, schedule, scheduled_since, (data ->> 'scheduledAt')::timestamptz AS at, (data ->> 'missed')::int AS missed
      FROM events AS ticks JOIN rules ON rules.id = addressee_id AND rules.workspace_id = ticks.workspace_id
        AND rules.schedule IS NOT NULL ${own}
      WHERE addressee_kind = 'tick' AND replay_of IS NULL
        AND EXISTS (SELECT FROM rules WHERE next_run_at IS NOT NULL ${own})
        AND ticks.id >= ${firstIdOf(from)}::uuid AND ticks.id < ${firstIdOf(to)}::uuid
      ORDER BY ticks.id DESC LIMIT ${maxTicks}
    ),
    pairs AS (
      SELECT *, lag(at) OVER (PARTITION BY addressee_id ORDER BY at) AS before FROM ticks WHERE at > scheduled_since
    )
    SELECT id, schedule, extract(epoch FROM before)::float8 * 1000 AS before, extract(epoch FROM at)::float8 * 1000 AS at, missed
    FROM pairs WHERE before IS NOT NULL`)
  const lost = pairs.filter(isWrong)
  return [{ kind: 'tick_lost', count: lost.length, ids: lost.slice(0, maxIds).map(({ id }) => id) }]
}

function isWrong({ schedule, before, at, missed }: TickPair): boolean {
  // This process may be the one that does not know its zone.
  if (missed > maxCounted || findUnknownZone(schedule) !== undefined) return false
  try {
    let due = nextTick(schedule, before)
    for (let passed = 0; passed < missed; passed++) due = due === null ? null : nextTick(schedule, due)
    return due !== at
  } catch {
    // This process cannot read it.
    return false
  }
}
