import type { Database } from '@automation/database'
import { areSilencesDue, lookAtSilences, type Silence } from '@automation/ledger'
import { reportSilence } from '@automation/rules'
import type { Logger } from 'pino'
import { repeat } from '../repeat.js'

/** A silence is reported within a minute. */
const pauseMs = 10_000
const lookedAtOnce = 500

/** Looks every ten seconds whether rules with `expectEvery` are silent. Every worker does, and each rule is claimed for that time. */
export function startSilences(database: Database, log: Logger, pause = pauseMs) {
  return repeat(lookAtAll, pause, (error) =>
    log.warn({ err: error }, 'silent rules could not be found; the next look tries again'),
  )

  async function lookAtAll(isStopped: () => boolean): Promise<void> {
    if (!(await areSilencesDue(database))) return
    for (;;) {
      const silences = await lookAtSilences(database, lookedAtOnce)
      for (const silence of silences) await report(silence)
      if (isStopped() || !(await areSilencesDue(database))) return
    }
  }

  async function report(silence: Silence): Promise<void> {
    const { ruleId, workspaceId, wasSilent } = silence
    // The sweeper adds the jobs of its service events.
    if (await reportSilence(database, silence))
      log.info({ ruleId, workspaceId }, wasSilent ? 'a silent rule is heard again' : 'a rule is silent')
  }
}
