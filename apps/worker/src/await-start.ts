import { setTimeout } from 'node:timers/promises'
import { findOpenRestore, type OpenRestore } from '@automation/access'
import type { Database } from '@automation/database'
import type { Logger } from 'pino'

const pauseMs = 2_000

/**
 * Waits as long as the database is one that was restored and whose workers the operator has not started. Where Postgres does not say, nothing starts either.
 *
 * @param onPause is called once, if it waits
 */
export async function awaitStart(
  database: Pick<Database, 'run'>,
  log: Logger,
  onPause: (restore: OpenRestore) => void,
  everyMs = pauseMs,
): Promise<void> {
  let isTold = false
  for (;;) {
    try {
      const restore = await findOpenRestore(database)
      if (restore === undefined) break
      if (!isTold) {
        isTold = true
        const { asOf } = restore
        log.warn(
          { asOf },
          'paused: the database was restored. Nothing runs until: npm run admin -- restored start',
        )
        onPause(restore)
      }
    } catch (error) {
      log.debug({ err: error }, 'whether the database was restored could not be read')
    }
    await setTimeout(everyMs)
  }
  if (isTold) log.info('the operator has started the workers')
}
