import pg from 'pg'

/** What a server says of itself. */
export interface ServerState {
  isStandby: boolean
  /** Of the cluster: the same on a primary and its standbys, and after a failover. */
  system: string
  /** Counted up by each promotion; null where it is unknown. */
  timeline: number | null
}

/** All of it in one statement. A standby has no timeline of its own. */
const stateSql = `
  SELECT pg_is_in_recovery() AS "isStandby", (SELECT system_identifier::text FROM pg_control_system()) AS system,
         CASE WHEN NOT pg_is_in_recovery()
              THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline`
/** Some hosted servers keep their control data to themselves. */
const plainSql = `
  SELECT pg_is_in_recovery() AS "isStandby", '' AS system, NULL AS timeline`
/** How long (ms) nothing is said after a line: of the same server, and of another one. An address may lead to several in turns. */
const quietMs = { same: 10_000, other: 1_000 }

/**
 * Asks each new connection of a process which server it has reached, and refuses those where a write fails, or would be lost:
 *
 *   a standby                                         until it is promoted
 *   a primary of an older timeline than one before    it was replaced by a failover, and does not know it
 *
 * The process goes on with the next connection that reaches the primary. It knows a newer timeline only if it has seen it: a process that
 * starts on an old primary, and a connection that was open before the failover, are for the operator to fence off. A primary that is read-only serves reads,
 * and refuses writes by itself.
 */
export class PrimaryWatch {
  readonly #say: (line: string) => void
  readonly #newest = new Map<string, number>()
  #generation = ''
  #isPlain = false
  /** The last refusal that was told, and whether it has not been taken back. */
  #told = ''
  #toldAt = Number.NEGATIVE_INFINITY
  #isRefusing = false

  /** @param say takes one line when a server is refused, again every ten seconds, and one when it is the primary again */
  constructor(say: (line: string) => void) {
    this.#say = say
  }

  /**
   * Names the history that the primary is on. After a failover it is another one: what the last one committed at its end may be gone, and its
   * numbers of versions may stand for something else. Empty where the server says nothing of it.
   */
  get generation(): string {
    return this.#generation
  }

  /**
   * Asks the server of a new connection.
   *
   * @returns whether a failover that was seen later has replaced it
   * @throws as Postgres refuses a write (SQLSTATE 25006)
   */
  async check(client: pg.ClientBase & { host: string; port: number }): Promise<() => boolean> {
    const state = await this.#ask(client)
    this.judge(`${client.host}:${client.port}`, state)
    const { system, timeline } = state
    return () => timeline !== null && timeline < (this.#newest.get(system) ?? 0)
  }

  /** @throws where no write may go there. Prisma takes only an error with a severity for one of Postgres */
  judge(place: string, { isStandby, system, timeline }: ServerState): void {
    const newest = this.#newest.get(system) ?? 0
    if (isStandby) this.#refuse(`${place} is a standby`)
    if (timeline !== null && timeline < newest)
      this.#refuse(`${place} is an old primary (timeline ${timeline}, and ${newest} was reached before)`)
    if (timeline !== null) {
      this.#newest.set(system, timeline)
      this.#generation = `${system}/${timeline}`
    }
    if (this.#isRefusing) this.#say(`Postgres takes writes again at ${place}`)
    this.#isRefusing = false
  }

  async #ask(client: pg.ClientBase): Promise<ServerState> {
    const sql = this.#isPlain ? plainSql : stateSql
    try {
      return (await client.query<ServerState>(sql)).rows[0] as ServerState
    } catch (error) {
      // Not supported, no right to call it, or no such function. Another connection may have found out meanwhile.
      if (sql === plainSql || !/^(0A|42)/.test((error as pg.DatabaseError).code ?? '')) throw error
      this.#isPlain = true
      return this.#ask(client)
    }
  }

  #refuse(refusal: string): never {
    const now = performance.now()
    if (now > this.#toldAt + (refusal === this.#told ? quietMs.same : quietMs.other)) {
      this.#say(`Postgres takes no writes: ${refusal}`)
      this.#told = refusal
      this.#toldAt = now
      this.#isRefusing = true
    }
    throw Object.assign(new pg.DatabaseError(refusal, 0, 'error'), { severity: 'ERROR', code: '25006' })
  }
}
