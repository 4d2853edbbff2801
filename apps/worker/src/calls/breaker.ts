import { LRUCache } from 'lru-cache'

interface State {
  /** In a row, without a success between. */
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
/** While somebody tries, the others come back so soon (ms). */
const probeMs = 1_000
/** The destinations that failed last; whoever falls out is called as if nothing had been. */
const maxDestinations = 10_000

/**
 * Which destinations are to be left alone, since calling them is in vain.
 *
 *   closed ──5 failures in a row──▶ resting ──30 s──▶ (the next call is the probe) ──answered──▶ closed
 *                                      ▲─────── failed: twice as long, up to 5 min ──┘
 *
 * @param now ms, by a clock that is never set back @param onOpen is told when a destination that worked works no more
 */
export function createBreaker(now: () => number, onOpen = () => {}) {
  const states = new LRUCache<string, State>({ max: maxDestinations })

  return {
    /** For how long (ms) a destination is not to be called; undefined where it may be. */
    findRest(key: string): number | undefined {
      const state = states.get(key)
      if (state === undefined || state.failures < failuresToRest) return undefined
      const restMs = state.restsUntil - now()
      if (restMs > 0) return restMs
      return state.isProbed ? probeMs : undefined
    },
    /** A call goes out. True where it is the probe. */
    begin(key: string): boolean {
      const state = states.get(key)
      if (state === undefined || state.failures < failuresToRest) return false
      state.isProbed = true
      return true
    },
    /** @param wasAnswered undefined where it did not go out after all */
    end(key: string, isProbe: boolean, wasAnswered: boolean | undefined): void {
      if (wasAnswered === undefined) {
        const probed = states.get(key)
        if (probed && isProbe) probed.isProbed = false
        return
      }
      if (wasAnswered) return void states.delete(key)
      const state = states.get(key) ?? { failures: 0, restMs: 0, restsUntil: 0, isProbed: false }
      // Those that were under way when it broke tell nothing new.
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
