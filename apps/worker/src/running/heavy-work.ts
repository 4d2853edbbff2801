import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { FairSlots, TooMuchAtOnce } from '@automation/admission'
import { LRUCache } from 'lru-cache'
import { LatestOwners } from './latest-owners.js'
import { maxRestMs, rest } from './rest.js'

/** The job has to come back later. Its events that are done by then are not run again. */
export class Postponed extends Error {
  readonly delayMs: number

  constructor(delayMs: number) {
    super('Heavy events of this workspace take turns')
    this.delayMs = delayMs
  }
}

/** An event. */
interface Charged {
  readonly workspaceId: string
}

/** What a workspace has cost lately. */
interface Level {
  /** Units of work, less those that have leaked since. */
  units: number
  /** ms, by the clock. */
  at: number
  /** What its last heavy event cost. */
  typicalUnits: number
  /** The job whose events are in the line, and how many they are. */
  job: object | undefined
  inLine: number
  /** How many times a job was postponed since its line was empty. */
  postponed: number
}

/** Evaluating an event that costs less is not counted, nor are the rows of one that writes fewer: such events share the queue (fair-share.ts). */
const lightUnits = 5_000
const lightRows = 100
/** What an event that takes more than a turn of the event loop costs at least, until it is known. */
const depositUnits = 2_000_000
/** A row of an outcome costs about as much, in this worker and in Postgres. */
const unitsPerRow = 2_000
/** What the executions of an event may write in all is limited (EffectBudget): more is no estimate. */
const mostRows = 50_000
const msPerUnit = 25e-6
const minDelayMs = 500
const maxDelayMs = 10_000
/** How long (ms) an event may wait in the line. */
const lineTimeoutMs = 600_000
const maxWorkspaces = 10_000

/** Units per second: a tenth of the time of this worker's event loop, at 25 ns a unit. */
export const defaultWorkspaceWork = 4_000_000

/**
 * Keeps the heavy events of one workspace from delaying the events of others. A workspace has an allowance per second. Beyond it, its
 * events run one at a time, in turns with those of other such workspaces:
 *
 *   within the allowance ──▶ begins at once ──▶ charged
 *   beyond it ──▶ the only job of its workspace, and one of few in the line? ─yes─▶ line ──▶ runs alone ──▶ rest, where others have events
 *                               └─no─▶ Postponed: the job comes back when the events before it may have ended
 *
 * An event that takes several slices rests between them, too: the events of others pass there, each in many brief steps.
 * So a heavy workspace holds one job of this worker, all of them hold a quarter of its jobs, and they have at most half of its event
 * loop.
 */
export class HeavyWork {
  readonly #unitsPerSecond: number
  readonly #now: () => number
  readonly #levels = new LRUCache<string, Level>({ max: maxWorkspaces })
  readonly #line = new FairSlots({
    total: 1,
    perOwner: 1,
    waitingPerOwner: Number.POSITIVE_INFINITY,
    timeoutMs: lineTimeoutMs,
  })
  readonly #maxJobs: number
  /** How many jobs have events in the line. */
  #jobs = 0
  /** What was charged in advance, by event. */
  readonly #deposits = new WeakMap<Charged, number>()
  /** When the slices that are due, and their rests, are over. */
  #freeAt = Number.NEGATIVE_INFINITY
  /** Workspaces that have had events: a heavy one leaves room to others. */
  readonly #latest: LatestOwners
  #isStopped = false

  /**
   * @param unitsPerSecond the allowance of a workspace
   * @param concurrency how many jobs this worker runs at a time
   * @param now ms, by a monotonic clock
   */
  constructor(
    unitsPerSecond = defaultWorkspaceWork,
    concurrency = 12,
    now: () => number = () => performance.now(),
  ) {
    this.#unitsPerSecond = unitsPerSecond
    this.#maxJobs = Math.max(1, Math.floor(concurrency / 4))
    this.#now = now
    this.#latest = new LatestOwners(now)
  }

  /** Call before the work of a workspace begins. @throws Postponed where another of its jobs is in the line */
  check(workspaceId: string, job: object): void {
    this.#latest.note(workspaceId)
    const level = this.#findExceeded(workspaceId)
    if (level !== undefined) this.#refuseOtherJobs(level, job)
  }

  /** Whether the workspace is beyond its allowance: its work has to take turns. */
  isExceeded(workspaceId: string): boolean {
    return this.#findExceeded(workspaceId) !== undefined
  }

  /** Runs work at once, or, for a workspace beyond its allowance, when it is its turn. @throws Postponed */
  run<Result>(workspaceId: string, job: object, work: () => Promise<Result>): Promise<Result> {
    return this.isExceeded(workspaceId) ? this.runInTurn(workspaceId, job, work) : work()
  }

  /** Runs work of a workspace beyond its allowance when it is its turn. @throws Postponed */
  async runInTurn<Result>(workspaceId: string, job: object, work: () => Promise<Result>): Promise<Result> {
    const level = this.#find(workspaceId)
    this.#refuseOtherJobs(level, job)
    if (level.job === undefined) this.#jobs++
    level.job = job
    level.inLine++
    try {
      return await this.#line.run(workspaceId, async () => {
        if (this.#latest.areBeside(workspaceId)) await delay(Math.max(0, this.#freeAt - this.#now()))
        if (this.#isStopped) throw new Postponed(0)
        const result = await work()
        await this.#rest(workspaceId, level)
        return result
      })
    } catch (error) {
      throw error instanceof TooMuchAtOnce ? this.#postpone(level) : error
    } finally {
      if (--level.inLine === 0) {
        level.job = undefined
        level.postponed = 0
        this.#jobs--
      }
    }
  }

  /**
   * Charges an event that turns out to be heavy while it is evaluated, in advance: for a quarter of a second the next events of its workspace do not
   * begin beside it.
   *
   * @param evaluationUnits what its evaluation has cost so far
   */
  depositEvaluation(event: Charged, evaluationUnits: number): void {
    this.#deposit(event, Math.max(evaluationUnits, 1.25 * this.#unitsPerSecond))
  }

  /** Charges an event that does not begin in one turn of the event loop, in advance, for the rows that it may write. */
  depositRows(event: Charged, rows: number): void {
    this.#deposit(event, Math.max(depositUnits, unitsOfRows(Math.min(rows, mostRows))))
  }

  /** Leaves the event loop to others, for as long as the last slice took: they need it many times, briefly. */
  async giveWay({ workspaceId }: Charged, tookMs: number): Promise<void> {
    await (this.#mustRest(workspaceId) ? rest(tookMs) : nextTurn())
  }

  /** The same between two slices of evaluation: the slices of several events are one after another, each with its rest. */
  async takeTurn({ workspaceId }: Charged, tookMs: number): Promise<void> {
    if (!this.#mustRest(workspaceId)) return nextTurn()
    const restMs = Math.min(tookMs, maxRestMs)
    const now = this.#now()
    const beginsAt = Math.max(now, this.#freeAt) + restMs
    // The next slice takes about as long as the last one.
    this.#freeAt = beginsAt + restMs
    await delay(beginsAt - now)
  }

  /** Charges an event for what it has cost, after it was evaluated and before it is recorded, or where it fails. */
  charge(event: Charged, evaluationUnits: number, rows: number): void {
    const units = (evaluationUnits < lightUnits ? 0 : evaluationUnits) + unitsOfRows(rows)
    if (units === 0 && !this.#deposits.has(event)) return
    this.#charge(event, units).typicalUnits = units
    this.#deposits.delete(event)
  }

  /** From now on the events in the line are postponed: another worker runs them. */
  stop(): void {
    this.#isStopped = true
  }

  #refuseOtherJobs(level: Level, job: object): void {
    if (level.job === job) return
    if (level.job !== undefined || this.#jobs >= this.#maxJobs) throw this.#postpone(level)
  }

  /** Leaves the event loop, and Postgres, to others for as long as the work took. What was sliced has given way between its slices, too. */
  async #rest(workspaceId: string, { typicalUnits }: Level): Promise<void> {
    if (this.#mustRest(workspaceId)) await delay(Math.min(typicalUnits * msPerUnit, maxRestMs))
  }

  /** A worker that ends has no time for rests. */
  #mustRest(workspaceId: string): boolean {
    return !this.#isStopped && this.#latest.areBeside(workspaceId)
  }

  #postpone(level: Level): Postponed {
    level.postponed++
    const delayMs = minDelayMs + level.postponed * level.typicalUnits * msPerUnit
    return new Postponed(Math.min(delayMs, maxDelayMs))
  }

  /** @returns the level of a workspace beyond its allowance */
  #findExceeded(workspaceId: string): Level | undefined {
    if (this.#levels.size === 0) return undefined
    const level = this.#levels.get(workspaceId)
    if (level === undefined) return undefined
    this.#leak(level)
    if (level.units === 0 && level.inLine === 0) this.#levels.delete(workspaceId)
    return level.units > this.#unitsPerSecond ? level : undefined
  }

  #find(workspaceId: string): Level {
    const at = this.#now()
    const known = this.#levels.get(workspaceId)
    if (known !== undefined) {
      this.#leak(known)
      return known
    }
    const level = { units: 0, at, typicalUnits: 0, job: undefined, inLine: 0, postponed: 0 }
    this.#levels.set(workspaceId, level)
    return level
  }

  #deposit(event: Charged, units: number): void {
    this.#charge(event, Math.max(units, this.#deposits.get(event) ?? 0))
  }

  #charge(event: Charged, units: number): Level {
    const level = this.#find(event.workspaceId)
    level.units = Math.max(0, level.units + units - (this.#deposits.get(event) ?? 0))
    this.#deposits.set(event, units)
    return level
  }

  #leak(level: Level): void {
    const now = this.#now()
    level.units = Math.max(0, level.units - ((now - level.at) / 1_000) * this.#unitsPerSecond)
    level.at = now
  }
}

function unitsOfRows(rows: number): number {
  return rows < lightRows ? 0 : rows * unitsPerRow
}
