import { useEffect, useRef } from 'preact/hooks'
import { updates } from './preferences.js'
import { api, hasEnded, may } from './session.js'
import { hasRoom, outdate } from './use-query.js'

/** How long (s) a request waits for the next event. Proxies give up requests after 30 s and more. */
const waitSeconds = 25
/** After an announcement: a busy workspace is looked at no more often. */
const afterNewsMs = 4_000
/** Where a request came back at once, in vain or not: too many wait, or the service is away. */
const afterTroubleMs = 15_000
const heldMs = 3_000

type Listener = (count: number) => void

/**
 * Learns of new events while a screen that shows them is open, by one request that waits for the next one. It rests while the page
 * is hidden or paused, and ends with the session.
 *
 *   first listener ──▶ asks ──▶ news: listeners are told, 4 s ──▶ asks …
 *                        └──▶ nothing within 25 s ──▶ asks …      last listener gone: the request is aborted
 */
class LiveFeed {
  readonly #listeners = new Set<Listener>()
  #running: AbortController | undefined

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#running === undefined) {
      this.#running = new AbortController()
      void this.#follow(this.#running.signal)
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#running?.abort()
      this.#running = undefined
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let after: string | undefined
    while (!signal.aborted) {
      if (document.hidden || updates.value === 'off' || hasEnded.value || !hasRoom()) {
        await pause(1_000, signal)
        continue
      }
      const begin = performance.now()
      const found = await ask(after, signal)
      if (signal.aborted) return
      after = found?.newestId ?? after
      if (found !== undefined && found.count > 0) {
        outdate('overview')
        for (const listener of this.#listeners) listener(found.count)
        await pause(afterNewsMs, signal)
      } else if (performance.now() - begin < heldMs) await pause(afterTroubleMs, signal)
    }
  }
}

const feed = new LiveFeed()

async function ask(after: string | undefined, signal: AbortSignal) {
  try {
    const query = { wait: waitSeconds, ...(after !== undefined && { after }) }
    return await api().events.newest(query, { signal })
  } catch {
    // What is shown says by itself that the service is away.
    return undefined
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Tells a screen of new events, within two seconds. @param isWanted false: it does not show events */
export function useLive(listener: Listener, isWanted = true): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(
    () => (isWanted && may('read all events') ? feed.listen((count) => latest.current(count)) : undefined),
    [isWanted],
  )
}
