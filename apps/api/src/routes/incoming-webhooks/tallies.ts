import { type Database, isUuid, writeJson } from '@automation/database'
import type { FastifyBaseLogger } from 'fastify'

interface Tally {
  duplicates: number
  rejected: number
}

const pauseMs = 5_000
/** A sender can name any number of workspaces. Workspaces beyond this number are not counted until the next write. */
const maxWorkspaces = 10_000

/**
 * Counts the deliveries without a row, by workspace and hour: the response to a replay needs no Postgres, and not every
 * refusal is stored. The counts of some seconds are added to Postgres with one statement for all workspaces. A killed
 * process loses the counts of its last seconds.
 */
export function openTallies(database: Database, log: FastifyBaseLogger) {
  let tallies = new Map<string, Tally>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  return {
    count(workspaceId: string, what: keyof Tally, by = 1): void {
      if (isUuid(workspaceId)) count(workspaceId, what, by)
    },
    /** Writes the remaining counts. */
    async close(): Promise<void> {
      clearTimeout(timer)
      await writing
      await write()
    },
  }

  function count(workspaceId: string, what: keyof Tally, by: number): void {
    let tally = tallies.get(workspaceId)
    if (tally === undefined) {
      if (tallies.size >= maxWorkspaces) return
      tally = { duplicates: 0, rejected: 0 }
      tallies.set(workspaceId, tally)
    }
    tally[what] += by
    timer ??= setTimeout(() => {
      timer = undefined
      writing = writing.then(write)
    }, pauseMs).unref()
  }

  async function write(): Promise<void> {
    if (tallies.size === 0) return
    const written = tallies
    tallies = new Map()
    const rows = [...written].map(([workspace_id, tally]) => ({ workspace_id, ...tally }))
    try {
      await database.run('add_tallies', statement, [writeJson(rows)])
    } catch (error) {
      log.warn({ err: error }, 'deliveries could not be counted; the next round retries')
      for (const [workspaceId, { duplicates, rejected }] of written) {
        count(workspaceId, 'duplicates', duplicates)
        count(workspaceId, 'rejected', rejected)
      }
    }
  }
}

// Sorted: two processes that lock the same rows in different orders would wait for each other for ever.
const statement = `
  INSERT INTO webhook_tallies AS known (workspace_id, hour, duplicates, rejected)
  SELECT new.workspace_id, date_trunc('hour', now(), 'UTC'), new.duplicates, new.rejected
  FROM json_to_recordset($1::json) AS new (workspace_id uuid, duplicates int, rejected int)
  JOIN workspaces ON workspaces.id = new.workspace_id
  ORDER BY new.workspace_id
  ON CONFLICT (workspace_id, hour) DO UPDATE
  SET duplicates = known.duplicates + excluded.duplicates, rejected = known.rejected + excluded.rejected`
