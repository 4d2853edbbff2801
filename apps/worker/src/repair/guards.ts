import type { Database } from '@automation/database'
import { checkGuard, claimGuards } from '@automation/rules'
import type { Logger } from 'pino'
import { repeat } from '../repeat.js'

/** A limit that is crossed has its effect within 5 s. */
const pauseMs = 1_000
const claimedAtOnce = 50

/**
 * Checks the guards of promoted versions every second. Every worker does, and each guard is claimed for a second. The sweeper's lock would not
 * do: a sweep holds it for up to 10 s, and so does a worker that stands still.
 */
export function startGuards(database: Database, log: Logger) {
  return repeat(checkAll, pauseMs, (error) =>
    log.warn({ err: error }, 'guards could not be checked; the next check tries again'),
  )

  async function checkAll(isStopped: () => boolean): Promise<void> {
    for (;;) {
      const guards = await claimGuards(database, claimedAtOnce)
      for (const guard of guards) {
        if (isStopped()) return
        const { ruleId, workspaceId, previousVersion } = guard
        // One that fails must not keep the others from being checked.
        const crossing = await checkGuard(database, guard).catch((error: unknown) => {
          log.warn({ err: error, ruleId, workspaceId }, 'a guard could not be checked')
          return undefined
        })
        // The sweeper adds the jobs of its service events.
        if (crossing) log.warn({ ruleId, workspaceId, previousVersion, ...crossing }, 'a guard tripped')
      }
      if (guards.length < claimedAtOnce) return
    }
  }
}
