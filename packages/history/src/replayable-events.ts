import { Prisma, type UnscopedSql } from '@automation/database'
import {
  type AddressColumns,
  type Addressee,
  addresseeOf,
  countMatches,
  joinNarrowing,
  type Matches,
  type Narrowing,
} from '@automation/ledger'

export interface ReplayableEvent {
  id: string
  type: string
  data: object
  /** Of its data. */
  bytes: number
  addressee: Addressee | null
}

/** @param after the id of an event; only those behind it are counted */
export function countReplayable(
  database: UnscopedSql,
  narrowing: Narrowing,
  after: string | undefined,
): Promise<Matches> {
  return countMatches(database, Prisma.sql`events WHERE ${replayable(narrowing, after)}`)
}

/** Of the data of one page: beyond it the page is shorter than its limit, though it has one event at least. */
const maxBytesOfPage = 4_194_304

/** Reads events that may be replayed, the oldest first. */
export async function findReplayable(
  database: UnscopedSql,
  narrowing: Narrowing,
  after: string | undefined,
  limit: number,
): Promise<ReplayableEvent[]> {
  const rows = await database.$queryRaw<(Omit<ReplayableEvent, 'addressee'> & AddressColumns)[]>(Prisma.sql`
    SELECT id, type, data, bytes, "addresseeKind", "addresseeId"
    FROM (
      SELECT *, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before
      FROM (
        SELECT id, type, data, octet_length(data::text)::float8 AS bytes, addressee_kind AS "addresseeKind",
               addressee_id AS "addresseeId"
        FROM events WHERE ${replayable(narrowing, after)}
        ORDER BY id LIMIT ${limit}
      ) AS page
    ) AS measured
    WHERE bytes_before < ${maxBytesOfPage} ORDER BY id`)
  return rows.map(({ id, type, data, bytes, ...row }) => {
    return { id, type, data, bytes, addressee: addresseeOf(row) }
  })
}

/** An event that is not done will run anyway. A replay, and an event that an execution emitted, comes again with its origin. */
function replayable(narrowing: Narrowing, after: string | undefined): Prisma.Sql {
  const behind = after === undefined ? Prisma.empty : Prisma.sql`AND events.id > ${after}::uuid`
  return Prisma.sql`${joinNarrowing(narrowing)} ${behind}
    AND events.done_at IS NOT NULL AND events.erased_at IS NULL AND events.replay_of IS NULL AND events.caused_by IS NULL
    AND (events.addressee_kind IS NULL
      OR EXISTS (SELECT FROM rules WHERE rules.id = events.addressee_id AND rules.workspace_id = events.workspace_id)
      OR EXISTS (
        SELECT FROM subscriptions
        WHERE events.addressee_kind = 'subscription' AND subscriptions.id = events.addressee_id AND subscriptions.workspace_id = events.workspace_id))`
}
