import type { AutomationRulesEvents } from '@automation/client/embed'

/** What the page in a frame says to the product around it. */
export interface Said extends AutomationRulesEvents {
  height: { px: number }
}

export interface Heard {
  type: string
  path?: unknown
  url?: unknown
  colorScheme?: unknown
}

/** What is said before the host has said hello waits, the newest. */
const mostWaiting = 20
const any = '*'

/**
 * The window around the frame. Only `hello`, which says nothing else, goes to any window. All else goes to the origin that has said hello, and
 * is heard from there alone: a page whose origin the workspace or the operator has listed.
 *
 *   listen ──hello to all──▶ hello of an allowed origin ──▶ what waits is said ──▶ …
 */
export class Host {
  #origins: readonly string[] = []
  #origin: string | undefined
  #waiting: object[] = []

  /** @param hear gets what an allowed origin says; hello, too */
  listen(hear: (message: Heard, origin: string) => void): () => void {
    const listener = ({ data, origin, source }: MessageEvent) => {
      const isHost = source === parent && parent !== window && this.#origins.includes(origin)
      if (!isHost || data?.automation !== 1 || typeof data.type !== 'string') return
      if (data.type === 'hello') this.#answer(origin)
      if (this.#origin === origin) hear(data, origin)
    }
    addEventListener('message', listener)
    this.#greet()
    return () => removeEventListener('message', listener)
  }

  /** @param origins of the session that is open, or that was */
  allow(origins: readonly string[]): void {
    this.#origins = origins
    if (this.#origin !== undefined && !origins.includes(this.#origin)) this.#origin = undefined
    this.#greet()
  }

  say<Type extends keyof Said>(type: Type, fields: Said[Type]): void {
    const message = { automation: 1, type, ...fields }
    if (this.#origin !== undefined) parent.postMessage(message, this.#origin)
    else this.#waiting = [...this.#waiting, message].slice(-mostWaiting)
  }

  #greet(): void {
    if (parent !== window) parent.postMessage({ automation: 1, type: 'hello' }, any)
  }

  #answer(origin: string): void {
    this.#origin = origin
    for (const message of this.#waiting.splice(0)) parent.postMessage(message, origin)
  }
}

export const host = /* @__PURE__ */ new Host()
