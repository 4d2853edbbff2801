import { isWorkspaceBusy } from '@automation/access'
import { FairQueue } from '@automation/admission'
import { type Database, readClock } from '@automation/database'
import { markEvents } from '@automation/ledger'
import { areGuardsDue, type ClaimedGuard, checkGuard, claimGuards } from '@automation/rules'
import type { Logger } from 'pino'
import { repeat } from '../repeat.js'

/** A limit that is crossed has its effect within 5 s. */
const pauseMs = 1_000
const claimedAtOnce = 50
/** Of the worker's connections, which its executions need. */
const workspacesAtOnce = 3

/**
 * Checks the guards of promoted versions every second. Every worker does, and each guard is claimed for a second. The sweeper's lock would not
 * do: a sweep holds it for up to 10 s, and so does a worker that stands still. Workspaces are checked beside each other, each in one slot; one
 * that is being changed is left for a second, so that its import keeps no other workspace waiting.
 */
export function startGuards(database: Database, log: Logger) {
  const slots = new FairQueue({ total: workspacesAtOnce })
  const mark = markEvents(database)
  return repeat(checkAll, pauseMs, (error) =>
    log.warn({ err: error }, 'guards could not be checked; the next check tries again'),
  )

  async function checkAll(isStopped: () => boolean): Promise<void> {
    for (;;) {
      if (!(await areGuardsDue(database))) return
      // What runs between two checks is not older than what waited at the first of them.
      const guards = await claimGuards(database, claimedAtOnce, await findOldest())
      const workspaceIds = new Set(guards.map(({ workspaceId }) => workspaceId))
      await Promise.all(
        [...workspaceIds].map((id) => {
          const own = guards.filter(({ workspaceId }) => workspaceId === id)
          return slots.run(id, () => checkWorkspace(own, isStopped))
        }),
      )
      if (guards.length < claimedAtOnce || isStopped()) return
    }
  }

  async function findOldest(): Promise<Date | null> {
    const found = await mark.find(await readClock(database))
    return found === undefined ? null : new Date(found.position)
  }

  async function checkWorkspace(guards: ClaimedGuard[], isStopped: () => boolean): Promise<void> {
    for (const guard of guards) {
      if (isStopped()) return
      const { ruleId, workspaceId, previousVersion } = guard
      try {
        const crossing = await checkGuard(database, guard)
        // The sweeper adds the jobs of its service events.
        if (crossing) log.warn({ ruleId, workspaceId, previousVersion, ...crossing }, 'a guard tripped')
      } catch (error) {
        log.warn({ err: error, ruleId, workspaceId }, 'a guard could not be checked')
        // Any other guard that fails must not keep those after it from being checked.
        if (isWorkspaceBusy(error)) return
      }
    }
  }
}
