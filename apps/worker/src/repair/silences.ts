import { FairQueue, NotAdmitted, ownerOf } from '@automation/admission'
import type { Database } from '@automation/database'
import { areSilencesDue, lookAtSilences, type Silence } from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import { reportSilence } from '@automation/rules'
import type { Logger } from 'pino'

/** A silence is reported within a minute. */
const pauseMs = 10_000
/** How long (ms) one pass looks: then Postgres rests, also where more are due. */
const lookingMs = 5_000
const lookedAtOnce = 500
/** Of the worker's connections, which its executions need. What an owner cannot have waiting is found again by the next look. */
const reporting = { total: 2, perOwner: 1, waiting: 1_000 }

/**
 * Looks every ten seconds whether rules with `expectEvery` are silent. Every worker does, and each rule is claimed for that time. What a look finds is
 * reported beside it, in turns of the owners: so a thousand rules that fall silent together keep no other from being looked at, or reported.
 */
export function startSilences(database: Database, log: Logger, pause = pauseMs) {
  const reports = new FairQueue(reporting)
  const underWay = new Map<string, Promise<void>>()
  let isStopping = false
  const looking = repeat(lookAtAll, pause, (error) =>
    log.warn({ err: error }, 'silent rules could not be found; the next look tries again'),
  )
  return {
    async stop(): Promise<void> {
      isStopping = true
      await looking.stop()
      await Promise.all(underWay.values())
    },
  }

  async function lookAtAll(isStopped: () => boolean): Promise<void> {
    const endsAt = performance.now() + lookingMs
    if (!(await areSilencesDue(database))) return
    for (let isMore = true; isMore && !isStopped() && performance.now() < endsAt; ) {
      const { looked, silences } = await lookAtSilences(database, lookedAtOnce)
      for (const silence of silences)
        if (!underWay.has(silence.ruleId)) underWay.set(silence.ruleId, tell(silence))
      isMore = looked === lookedAtOnce
    }
  }

  async function tell(silence: Silence): Promise<void> {
    try {
      await reports.run(ownerOf(silence), () => report(silence))
    } catch (error) {
      if (!(error instanceof NotAdmitted))
        log.warn(
          { err: error, ruleId: silence.ruleId },
          'a silence could not be reported; the next look tries again',
        )
    } finally {
      underWay.delete(silence.ruleId)
    }
  }

  async function report(silence: Silence): Promise<void> {
    if (isStopping) return
    const { ruleId, workspaceId, wasSilent } = silence
    // The sweeper adds the jobs of its service events.
    if (await reportSilence(database, silence))
      log.info({ ruleId, workspaceId }, wasSilent ? 'a silent rule is heard again' : 'a rule is silent')
  }
}
