import { setTimeout } from 'node:timers/promises'
import { type Database, isDatabaseAway } from '@automation/database'
import { type Job, WaitingError } from 'bullmq'
import type { Logger } from 'pino'

/** How long (ms) after it was not there to look for Postgres again. */
const lookMs = 500

const findWritesSql = `SELECT current_setting('transaction_read_only') = 'off' AS "areTaken"`

/** What takes the jobs of all queues. */
interface Reader {
  /** @param isAtOnce does not wait for the jobs that it has taken */
  pause(isAtOnce: true): Promise<void>
  resume(): Promise<void>
}

/**
 * Takes jobs only where their events can be read and committed. Each job would fail after some seconds, and come back; other workers may reach Postgres, and
 * have the jobs meanwhile.
 *
 *   open ──a job fails, since Postgres is away──▶ closed ──Postgres takes writes──▶ open
 */
export class Intake {
  readonly #database: Pick<Database, 'runUrgent'>
  readonly #log: Logger
  #reader: Reader | undefined
  #isClosed = false
  #isOver = false

  constructor(database: Pick<Database, 'runUrgent'>, log: Logger) {
    this.#database = database
    this.#log = log
  }

  serve(reader: Reader): void {
    this.#reader = reader
  }

  /** Runs a job. One that the reader was waiting for when it was paused goes back, for another worker. */
  async take<Data>(job: Job<Data>, token: string | undefined, run: () => Promise<void>): Promise<void> {
    if (this.#isClosed && !this.#isOver) {
      await job.moveToWait(token)
      throw new WaitingError()
    }
    try {
      await run()
    } catch (error) {
      if (isDatabaseAway(error)) this.#close()
      throw error
    }
  }

  /** It looks for Postgres no more. */
  stop(): void {
    this.#isOver = true
  }

  #close(): void {
    if (this.#isClosed || this.#isOver) return
    this.#isClosed = true
    void this.#reopen()
  }

  async #reopen(): Promise<void> {
    await this.#reader?.pause(true)
    for (let looks = 0; !(await this.#findWrites()); looks++) {
      if (this.#isOver) return
      if (looks === 0) this.#log.warn('takes no jobs until Postgres is back')
      await setTimeout(lookMs, undefined, { ref: false })
    }
    this.#isClosed = false
    await this.#reader?.resume()
  }

  /** On the urgent connection, which ends where no response comes: the next look finds another one. */
  async #findWrites(): Promise<boolean> {
    const found = this.#database.runUrgent<{ areTaken: boolean }>('find_writes', findWritesSql, [])
    return found.then(
      ([writes]) => writes?.areTaken === true,
      () => false,
    )
  }
}
