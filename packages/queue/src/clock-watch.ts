import { clockAheadMs, type Database, isClockWrong, newId, readClock } from '@automation/database'
import { repeat } from '@automation/process/repeat'
import type { Redis } from 'ioredis'

const pauseMs = 10_000
/** What was announced longer ago (ms) is of a process that has ended, or cannot reach Postgres. */
const announcedMs = 45_000

export type ClockState = 'ok' | 'differs' | 'outvoted'

interface Parts {
  /** Processes of a kind can replace each other. */
  kind: 'api' | 'worker'
  database: Pick<Database, 'run'>
  /** Its calls fail while Redis is away. */
  redis: Redis
  prefix: string
  log: { error(fields: object, message: string): void; info(fields: object, message: string): void }
}

/**
 * Compares the clock of this process with that of Postgres, and tells the other processes of its kind the difference:
 *
 *   ok ──more than a minute──▶ differs ──as many others agree with Postgres as differ──▶ outvoted: not ready
 *
 * Where nobody agrees with Postgres, its own clock may be the wrong one: then every process stays ready.
 */
export class ClockWatch {
  readonly #parts: Parts
  readonly #id = newId()
  #looks: ReturnType<typeof repeat> | undefined
  #state: ClockState = 'ok'

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get state(): ClockState {
    return this.#state
  }

  /** Looks now, and again and again. @throws where Postgres is unavailable at the first look */
  start(): Promise<void> {
    // Without Postgres nothing is known, and the process is not ready in any case.
    this.#looks = repeat(
      () => this.look(),
      pauseMs,
      () => {},
    )
    return this.look()
  }

  async stop(): Promise<void> {
    await this.#looks?.stop()
  }

  /** @throws where Postgres is unavailable */
  async look(): Promise<void> {
    const now = await readClock(this.#parts.database)
    const aheadMs = clockAheadMs() ?? 0
    // Redis is unavailable: nobody knows what the others say.
    const others = await this.#exchange(now, aheadMs).catch(() => [])
    const agreeing = others.filter((ahead) => !isClockWrong(ahead)).length
    const isOutvoted = agreeing > 0 && agreeing >= others.length - agreeing
    this.#note(isClockWrong(aheadMs) ? (isOutvoted ? 'outvoted' : 'differs') : 'ok', aheadMs)
  }

  /** @returns how far (ms) the clocks of the other processes are ahead of Postgres' clock */
  async #exchange(now: number, aheadMs: number): Promise<number[]> {
    const { redis, prefix, kind } = this.#parts
    const key = `${prefix}:clocks:${kind}`
    const results = await redis
      .multi()
      .hset(key, this.#id, `${aheadMs} ${now}`)
      .pexpire(key, announcedMs)
      .hgetall(key)
      .exec()
    const [error, announced = {}] = (results?.[2] ?? []) as [Error?, Record<string, string>?]
    if (error) throw error
    const entries = Object.entries(announced).map(([id, text]) => {
      const [ahead = 0, at = 0] = text.split(' ').map(Number)
      return { id, ahead, isOld: Math.abs(now - at) > announcedMs }
    })
    const old = entries.filter(({ isOld }) => isOld).map(({ id }) => id)
    if (old.length > 0) await redis.hdel(key, ...old)
    return entries.filter(({ id, isOld }) => !isOld && id !== this.#id).map(({ ahead }) => ahead)
  }

  #note(state: ClockState, aheadMs: number): void {
    if (state === this.#state) return
    const { log } = this.#parts
    const fields = { aheadSeconds: Math.round(aheadMs / 1_000) }
    if (state === 'ok') log.info(fields, 'the clock of this process agrees with that of Postgres again')
    else if (state === 'differs') log.error(fields, 'the clocks of this process and of Postgres differ')
    else
      log.error(
        fields,
        'the clock of this process differs from that of Postgres and of others: it is not ready',
      )
    this.#state = state
  }
}
