import type { Pool } from 'undici'
import { openApi, prefixOf } from '../hand-on/ask-api.js'
import { frameSlots, Slots } from '../hand-on/slots.js'

/** How long (ms) an answer of the API holds. */
const keptMs = 10_000
const mostKept = 1_000
const answerMs = 2_000
const isSession = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** As a policy may name it: nothing else of an answer becomes part of a header. */
const isOrigin = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?$/

/**
 * Knows which origins may frame the page of an embed session. Nobody may where the API does not answer: an answer is kept for 10 s, and a
 * failure is not.
 */
export class FrameOrigins {
  readonly #api: Pool
  readonly #path: string
  readonly #slots = new Slots(frameSlots)
  /** The oldest first. */
  readonly #known = new Map<string, { origins: readonly string[]; until: number }>()

  constructor(apiUrl: string) {
    this.#api = openApi(apiUrl, frameSlots)
    this.#path = `${prefixOf(apiUrl)}/api/developer/v1/embed-sessions`
  }

  /** @param ip whose limit of the API the question draws from, unless the session is live */
  async find(id: string, ip: string): Promise<readonly string[]> {
    const session = id.toLowerCase()
    if (!isSession.test(session)) return []
    const known = this.#known.get(session)
    if (known !== undefined && known.until > Date.now()) return known.origins
    const slot = this.#slots.take(ip, session)
    if (typeof slot === 'string') return []
    const origins = await this.#ask(session, ip).finally(slot)
    if (origins !== undefined) this.#keep(session, origins)
    return origins ?? []
  }

  close(): Promise<void> {
    return this.#api.destroy()
  }

  /** @returns undefined where it is not known */
  async #ask(session: string, ip: string): Promise<string[] | undefined> {
    try {
      const { statusCode, body } = await this.#api.request({
        path: `${this.#path}/${session}/frame`,
        method: 'GET',
        headers: { 'x-forwarded-for': ip },
        signal: AbortSignal.timeout(answerMs),
      })
      const answer = (await body.json()) as { origins?: unknown }
      if (statusCode === 404) return []
      if (statusCode !== 200 || !Array.isArray(answer.origins)) return undefined
      return answer.origins.filter((one) => typeof one === 'string' && isOrigin.test(one))
    } catch {
      return undefined
    }
  }

  #keep(session: string, origins: string[]): void {
    this.#known.delete(session)
    this.#known.set(session, { origins, until: Date.now() + keptMs })
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostKept) break
      this.#known.delete(oldest)
    }
  }
}
