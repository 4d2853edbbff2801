import type { Redis } from 'ioredis'

/** A number that nobody has announced for so long (ms) is of no living process. */
const announcedMs = 30_000
/** For so long (ms), jobs are looked for where it has put them: in queues that are read in any case, a backlog of theirs may be as old. */
const rememberedMs = 86_400_000

/** The times are those of Redis, and leave the script as ages. */
const announce = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, count in ipairs(ARGV) do redis.call('ZADD', KEYS[1], now, count) end
local known = {}
local entries = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for index = 1, #entries, 2 do
  known[index] = tonumber(entries[index])
  known[index + 1] = now - entries[index + 1]
end
return known`

/**
 * Over how many queues the living processes spread jobs. It differs between them while QUEUES is being changed:
 *
 *   announced ──30 s without a word──▶ nobody's ──its queues are empty, a day later──▶ forgotten
 *       ▲──────────────a job is in its queues──────────────┘
 *
 * A process announces its number before it adds the first job, so that no job is where nobody looks. What Redis forgets, this process remembers.
 */
export class QueueCounts {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #own: number
  readonly #hasJobs: (queue: number) => Promise<boolean>
  readonly #now: () => number
  /** By number: when (#now) it was announced. */
  readonly #announcedAt = new Map<number, number>()

  /**
   * @param own number of queues of this process
   * @param hasJobs looks for jobs that are not finished in a queue
   * @param now ms, by a monotonic clock
   */
  constructor(
    redis: Redis,
    prefix: string,
    own: number,
    hasJobs: (queue: number) => Promise<boolean>,
    now = () => performance.now(),
  ) {
    this.#redis = redis
    this.#prefix = prefix
    this.#own = own
    this.#hasJobs = hasJobs
    this.#now = now
  }

  /** Of all processes that may have added jobs which are not done; this one's first. */
  get known(): number[] {
    return [this.#own, ...[...this.#announcedAt.keys()].filter((count) => count !== this.#own)]
  }

  /** How many queues workers have to read. */
  get inUse(): number {
    const since = this.#now() - announcedMs
    let most = this.#own
    for (const [count, at] of this.#announcedAt) if (at > since) most = Math.max(most, count)
    return most
  }

  /** Announces the own number, and again each one in whose queues jobs are left. @throws where Redis is away */
  async look(): Promise<void> {
    await this.#announce([this.#own])
    const left = await this.#findLeft()
    if (left.length > 0) await this.#announce(left)
    await this.#forget()
  }

  async #announce(counts: number[]): Promise<void> {
    const numbers = counts.map(String)
    const known = (await this.#redis.eval(announce, 1, keyOfCounts(this.#prefix), ...numbers)) as number[]
    const now = this.#now()
    for (let index = 0; index < known.length; index += 2) {
      const [count = 0, ageMs = 0] = known.slice(index, index + 2)
      const before = this.#announcedAt.get(count) ?? Number.NEGATIVE_INFINITY
      this.#announcedAt.set(count, Math.max(before, now - Math.max(0, ageMs)))
    }
  }

  /** @returns the least number that covers all queues with jobs, if the own one does not */
  async #findLeft(): Promise<number[]> {
    for (let index = Math.max(...this.known) - 1; index >= this.#own; index--)
      if (await this.#hasJobs(index)) return [Math.min(...this.known.filter((count) => count > index))]
    return []
  }

  async #forget(): Promise<void> {
    const since = this.#now() - rememberedMs
    for (const [count, at] of this.#announcedAt) {
      if (at > since) continue
      this.#announcedAt.delete(count)
      await this.#redis.zrem(keyOfCounts(this.#prefix), String(count))
    }
  }
}

/** @returns for those who look on: how many queues there are, by the last words of all processes, and how many there are or were */
export async function readQueueCounts(
  redis: Redis,
  prefix: string,
): Promise<{ present: number; known: number }> {
  const entries = (await redis.zrange(keyOfCounts(prefix), '0', '-1', 'WITHSCORES')).map(Number)
  const newest = entries.at(-1) ?? 0
  let [present, known] = [1, 1]
  for (let index = 0; index < entries.length; index += 2) {
    const [count = 0, at = 0] = entries.slice(index, index + 2)
    known = Math.max(known, count)
    if (newest - at < announcedMs) present = Math.max(present, count)
  }
  return { present, known }
}

function keyOfCounts(prefix: string): string {
  return `${prefix}:queues`
}
