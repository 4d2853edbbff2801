import type { Fault } from '../fault.js'
import type { Action } from '../rule.js'
import { listPlaceholderUses } from '../templates/template.js'
import { parseDuration } from '../times/duration.js'
import type { PerKey } from './per-key.js'

/** So long (ms) a key may be held without a warning. */
const longMs = 3_600_000

/**
 * Finds what is allowed in `perKey` and probably a mistake: a wait that keeps the key from others, and a key that reads what events do not have.
 *
 * @param warnOfPath warns of a path into the data
 */
export function findPerKeyWarnings(
  { perKey, actions }: { perKey?: PerKey | null; actions: readonly Action[] },
  warnOfPath: (field: string, path: string) => Fault[],
): Fault[] {
  if (!perKey) return []
  const paths = perKey.key === undefined ? [] : listPlaceholderUses(perKey.key).flatMap(({ reads }) => reads)
  const found = [...new Set(paths)].flatMap((path) => warnOfPath('perKey.key', path))
  const { whileRunning } = perKey
  if (whileRunning !== 'skip' && whileRunning !== 'queue') return found
  const holding = actions.findIndex(isLong)
  if (holding < 0) return found
  const others = whileRunning === 'skip' ? 'start nothing' : 'wait'
  const message = `Other events of the key ${others} until actions[${holding}] is over, which may take long`
  return [...found, { field: 'perKey.whileRunning', message }]
}

/** A WAIT that is long, or of which nobody knows how long it is, and a retry that may be. */
function isLong(action: Action): boolean {
  if (action.type === 'WAIT') {
    const { duration } = action.config as { duration?: string }
    return duration === undefined || (parseDuration(duration) ?? longMs) >= longMs
  }
  const { attempts = 1, maxDelayMs = 0 } = action.retry ?? {}
  return (attempts - 1) * maxDelayMs >= longMs
}
