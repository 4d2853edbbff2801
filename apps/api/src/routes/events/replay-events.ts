import { newId, Prisma, type WorkspaceDatabase } from '@automation/database'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { countMatches, type Matches } from '../../count-matches.js'
import { joinNarrowing, type Narrowing } from '../../page.js'

interface EventToReplay {
  id: string
  type: string
  data: object
  ruleId: string | null
}

/** So many are read, and accepted in one commit: each may bring a megabyte of data. */
const batchSize = 100
/** After so many ms no further batch is begun: the caller gets its answer in time, and goes on from there. */
const budgetMs = 5_000

/**
 * Accepts the events that are chosen once more, the oldest first, behind one of them or from the beginning. What dies on
 * the way has replayed the first of them: each replay names its event.
 *
 * @returns how many there were, the last one, and whether that was the last of all
 */
export async function replayEvents(
  { inbox }: Pick<FastifyInstance, 'inbox'>,
  { id: workspaceId, database }: FastifyRequest['workspace'],
  chosen: Narrowing,
  after: string | undefined,
  limit: number,
): Promise<{ replayed: number; last: string | undefined; isOver: boolean }> {
  const endAt = performance.now() + budgetMs
  let replayed = 0
  let last = after
  for (;;) {
    const size = Math.min(batchSize, limit - replayed)
    const events = await findBatch(database, chosen, last, size)
    await Promise.all(
      events.map(({ id: replayOf, type, data, ruleId }) =>
        inbox.accept({ id: newId(), workspaceId, type, data, ruleId, replayOf }),
      ),
    )
    replayed += events.length
    last = events.at(-1)?.id ?? last
    const isOver = events.length < size
    if (isOver || replayed === limit || performance.now() > endAt) return { replayed, last, isOver }
  }
}

/** How many there are that could be replayed. */
export function countReplayable(
  database: Pick<WorkspaceDatabase, '$queryRaw'>,
  chosen: Narrowing,
  after: string | undefined,
): Promise<Matches> {
  return countMatches(database, Prisma.sql`events WHERE ${replayable(chosen, after)}`)
}

function findBatch(
  database: Pick<WorkspaceDatabase, '$queryRaw'>,
  chosen: Narrowing,
  after: string | undefined,
  size: number,
): Promise<EventToReplay[]> {
  return database.$queryRaw<EventToReplay[]>(Prisma.sql`
    SELECT id, type, data, rule_id AS "ruleId" FROM events WHERE ${replayable(chosen, after)}
    ORDER BY id LIMIT ${size}`)
}

/** An event that is not done will run anyway; a replay, and what an execution emitted, comes again with its origin. */
function replayable(chosen: Narrowing, after: string | undefined): Prisma.Sql {
  const behind = after === undefined ? Prisma.empty : Prisma.sql`AND events.id > ${after}::uuid`
  return Prisma.sql`${joinNarrowing(chosen)} ${behind}
    AND events.done_at IS NOT NULL AND events.replay_of IS NULL AND events.caused_by IS NULL
    AND (events.rule_id IS NULL
      OR EXISTS (SELECT FROM rules WHERE rules.id = events.rule_id AND rules.workspace_id = events.workspace_id)
      OR EXISTS (SELECT FROM subscriptions WHERE subscriptions.id = events.rule_id AND subscriptions.workspace_id = events.workspace_id))`
}
