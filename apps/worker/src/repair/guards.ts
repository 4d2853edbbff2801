import { setTimeout } from 'node:timers/promises'
import { type Database, readClock } from '@automation/database'
import { markEvents } from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import { areGuardsDue, claimGuards } from '@automation/rules'
import type { Logger } from 'pino'
import { GuardChecks } from './guard-checks.js'

/** A limit that is crossed has its effect within 5 s. */
const pauseMs = 1_000
const claimedAtOnce = 50

/**
 * Checks the guards of promoted versions every second. Every worker does, and each guard is claimed for a second. The sweeper's lock would not
 * do: a sweep holds it for up to 10 s, and so does a worker that stands still. What a claim finds is checked beside it: so guards that take long keep no
 * others from being claimed.
 */
export function startGuards(database: Database, log: Logger) {
  const checks = new GuardChecks(database, log)
  const mark = markEvents(database)
  const claiming = repeat(claimAll, pauseMs, (error) =>
    log.warn({ err: error }, 'guards could not be claimed; the next check tries again'),
  )
  return {
    async stop(): Promise<void> {
      await Promise.all([claiming.stop(), checks.stop()])
      // A claim that was in progress has begun some more.
      await checks.end()
    },
  }

  async function claimAll(isStopped: () => boolean): Promise<void> {
    for (let isMore = true; isMore && !isStopped(); ) {
      if (!(await areGuardsDue(database))) return
      // What runs between two checks is not older than what waited at the first of them.
      const guards = await claimGuards(database, claimedAtOnce, await findOldest())
      checks.begin(guards)
      isMore = guards.length === claimedAtOnce
      if (isMore) await Promise.race([checks.end(), setTimeout(pauseMs, undefined, { ref: false })])
    }
  }

  async function findOldest(): Promise<Date | null> {
    const found = await mark.find(await readClock(database))
    return found === undefined ? null : new Date(found.position)
  }
}
