import { LRUCache } from 'lru-cache'

interface State {
  /** In a row. */
  failures: number
  /** How long the last rest was (ms); 0 before the first. */
  restMs: number
  /** By the breaker's clock. */
  restsUntil: number
  isProbed: boolean
}

const failuresToRest = 5
const firstRestMs = 30_000
const longestRestMs = 300_000
/** The rest (ms) of all other calls while the probe is under way. */
const probeMs = 1_000
/** The destinations that failed most recently. One that leaves the cache counts as healthy again. */
const maxDestinations = 10_000

/**
 * A circuit breaker for each destination: one that keeps failing is not called for a while.
 *
 *   closed ──5 failures in a row──▶ resting ──30 s──▶ (the next call is the probe) ──answered──▶ closed
 *                                      ▲─────── failed: twice as long, up to 5 min ──┘
 *
 * @param now ms, by a monotonic clock
 * @param onOpen is called when a destination stops working
 */
export function createBreaker(now: () => number, onOpen = () => {}) {
  const states = new LRUCache<string, State>({ max: maxDestinations })

  return {
    /** How long (ms) a destination still rests; undefined where it may be called. */
    findRest(key: string): number | undefined {
      const state = states.get(key)
      if (state === undefined || state.failures < failuresToRest) return undefined
      const restMs = state.restsUntil - now()
      if (restMs > 0) return restMs
      return state.isProbed ? probeMs : undefined
    },
    /** Notes that a call begins. @returns whether it is the probe */
    begin(key: string): boolean {
      const state = states.get(key)
      if (state === undefined || state.failures < failuresToRest) return false
      state.isProbed = true
      return true
    },
    /** Notes that a call ended. @param wasAnswered undefined where no call was made after all */
    end(key: string, isProbe: boolean, wasAnswered: boolean | undefined): void {
      if (wasAnswered === undefined) {
        const probed = states.get(key)
        if (probed && isProbe) probed.isProbed = false
        return
      }
      if (wasAnswered) return void states.delete(key)
      const state = states.get(key) ?? { failures: 0, restMs: 0, restsUntil: 0, isProbed: false }
      // Failures of calls that began before the destination rested add no information.
      if (state.failures >= failuresToRest && !isProbe) return
      state.failures += 1
      state.isProbed = false
      if (state.failures >= failuresToRest) {
        state.restMs = Math.min(state.restMs * 2 || firstRestMs, longestRestMs)
        state.restsUntil = now() + state.restMs
        if (state.failures === failuresToRest) onOpen()
      }
      states.set(key, state)
    },
  }
}
