import { type Database, Prisma } from '@automation/database'
import type { EventQueue } from '@automation/inbox'
import type { Logger } from 'pino'
import { repeat } from './repeat.js'

const pauseMs = 2_000
/** An event younger than this is not looked for: its job is most likely just being added. */
const minimumAgeSeconds = 2
const pageSize = 500
const maxPages = 20
const maxSweepMs = 30_000
/** Any number that nothing else in this database locks. */
const sweeperLock = 7_701_202_611n

interface UndoneEvent {
  id: string
  workspaceId: string
  ruleId: string | null
}

/**
 * Puts back what the belt lost: events that are not done and have no job under way, because Redis forgot it, the
 * process that was to add it died first, or BullMQ gave up on it. One sweeper at a time, whichever worker comes
 * first; each sweep goes on where the last one stopped, so a long backlog hides nothing.
 */
export function startSweeper(database: Database, queue: EventQueue, log: Logger) {
  let cursor = noId
  return repeat(sweep, pauseMs, (error) => log.warn({ err: error }, 'sweep failed; the next one goes on'))

  /** The lock ends with its transaction, and so also with a worker that is killed here. */
  async function sweep(isStopped: () => boolean): Promise<void> {
    const restored = await database.system.$transaction(
      async (transaction) => {
        const [lock] = await transaction.$queryRaw<{ taken: boolean }[]>`
          SELECT pg_try_advisory_xact_lock(${sweeperLock}) AS taken`
        return lock?.taken ? restoreLost(isStopped) : 0
      },
      { timeout: maxSweepMs },
    )
    if (restored > 0) log.info({ restored }, 'put events back on the belt')
  }

  async function restoreLost(isStopped: () => boolean): Promise<number> {
    let restored = 0
    for (let page = 0; page < maxPages && !isStopped(); page++) {
      const events = await findUndone(database, cursor)
      const outcomes = await Promise.all(events.map((event) => queue.restore(event)))
      restored += outcomes.filter(Boolean).length
      cursor = events.length < pageSize ? noId : (events.at(-1)?.id ?? noId)
      if (cursor === noId) break
    }
    return restored
  }
}

const noId = '00000000-0000-0000-0000-000000000000'

/** The oldest events that are not done, beyond a cursor, of all workspaces. */
async function findUndone(database: Database, cursor: string): Promise<UndoneEvent[]> {
  return database.system.$queryRaw<UndoneEvent[]>(Prisma.sql`
    SELECT id, workspace_id AS "workspaceId", rule_id AS "ruleId"
    FROM events
    WHERE done_at IS NULL AND id > ${cursor}::uuid AND accepted_at < now() - make_interval(secs => ${minimumAgeSeconds})
    ORDER BY id
    LIMIT ${pageSize}`)
}
