import { FairSlots, type TooMuchAtOnce } from '@automation/admission'
import { type Refusal, refusals } from '../errors.js'
import { adviceFor } from './advice.js'
import { type Bounds, isOverrun, maxResponseMib, type Overrun } from './bounds.js'
import { type Ending, EvaluationProcess } from './evaluation-process.js'
import type { EvaluationTask, EvaluationTasks } from './evaluation-tasks.js'
import { type Caller, takeTurn } from './take-turn.js'

/** The evaluator adds the bounds. */
export type InputOf<Name extends EvaluationTask> = Omit<Parameters<EvaluationTasks[Name]>[0], keyof Bounds>
export type ResultOf<Name extends EvaluationTask> = Exclude<ReturnType<EvaluationTasks[Name]>, Overrun>

export interface EvaluatorLimits {
  /** Of one question. */
  timeoutMs: number
  /** Units of work of one question. */
  work: number
  /** MB of the heap of the child process. */
  memoryMb: number
}

/**
 * A usual question takes some ms. Other workspaces wait for it, so it has 1 s at most. On an idle machine its work takes half of that: as much as
 * three events whose rules use up all their work. The heap holds 16 MiB of stored rules with their events, and what evaluation makes of them.
 */
export const evaluatorLimits: EvaluatorLimits = { timeoutMs: 1_000, work: 20_000_000, memoryMb: 192 }

/** Of the metric, by the bound that was exceeded. */
const reasons = { units: 'too_much', ms: 'too_long', memory: 'too_large', bytes: 'too_large' } as const

interface Reports {
  noteRefusal(reason: 'too_many' | (typeof reasons)[keyof typeof reasons]): void
  /** The child process did not start, or ended for no known reason. */
  noteFault(error: Error): void
}

/** A burst of the default rate limit may wait. */
export const evaluationTurns = { perOwner: 1, waitingPerOwner: 100, timeoutMs: 3_000 }
/** How many workspaces hold what they have read for a question: up to 16 MiB each. */
const maxReaders = 4
/** A question ends by itself when its time is over. A process that is this many times as late is ended. */
const grace = 1.5

/**
 * Evaluates on behalf of callers in a child process: what one request may cost holds neither triggers nor the requests of other
 * workspaces, and what ends the child ends nothing else. There is one at most, which starts when it is needed, and workspaces take turns on it, one
 * question of each at a time. A question about much that is stored takes a turn before it reads that, so that what waits is small, or of few workspaces.
 *
 *   readAndAsk ─▶ waits for the workspace's turn to read ─▶ reads ─▶ run
 *
 *   run ─▶ waits for the workspace's turn ─▶ runs in the child ─▶ result
 *    │      └─▶ too many, too long: 429       ├─▶ its time or its work is used up: a shorter result, or 400
 *    │                                        ├─▶ half as long again: 400, and the child is ended
 *    │                                        ├─▶ its memory is used up: 400, and the child has ended
 *    │                                        └─▶ the child ended for another reason, or does not start: 503
 *    └─▶ the caller is gone when its turn comes: not run
 */
export class Evaluator {
  readonly #limits: EvaluatorLimits
  readonly #reports: Reports
  readonly #slots = new FairSlots({ ...evaluationTurns, total: 1 })
  readonly #readers = new FairSlots({ ...evaluationTurns, total: maxReaders })
  #process: EvaluationProcess | undefined

  constructor(limits: EvaluatorLimits, reports: Reports) {
    this.#limits = limits
    this.#reports = reports
  }

  /** Of the child process, while there is one. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** @throws refusals: 429 where too many of the workspace wait, 400 for what takes too long or too much memory */
  run<Name extends EvaluationTask>(
    caller: Caller,
    name: Name,
    input: InputOf<Name>,
  ): Promise<ResultOf<Name>> {
    return this.#takeTurn(this.#slots, caller, () => this.#evaluate(name, input))
  }

  /**
   * Runs work that reads much and asks about it. A workspace does so once at a time.
   *
   * @throws refusals: 429 where too many of the workspace wait
   */
  readAndAsk<Result>(caller: Caller, work: () => Promise<Result>): Promise<Result> {
    return this.#takeTurn(this.#readers, caller, work)
  }

  #takeTurn<Result>(slots: FairSlots, caller: Caller, work: () => Promise<Result>): Promise<Result> {
    const refuse = (error: TooMuchAtOnce) => {
      this.#reports.noteRefusal('too_many')
      return refusals.tooManyEvaluations(evaluationTurns, error)
    }
    return takeTurn(slots, caller, work, refuse, this.#longestWaitMs(caller))
  }

  /** A question that has several turns still has time for each that it waits for: it is refused rather than late. */
  #longestWaitMs({ dueAt }: Caller): number {
    const reserveMs = Math.min(this.#limits.timeoutMs * grace, evaluationTurns.timeoutMs)
    return Math.min(evaluationTurns.timeoutMs, dueAt - performance.now() - reserveMs)
  }

  async #evaluate<Name extends EvaluationTask>(name: Name, input: InputOf<Name>): Promise<ResultOf<Name>> {
    const { timeoutMs, work, memoryMb } = this.#limits
    const bounds: Bounds = { bounds: { units: work, ms: timeoutMs } }
    if (this.#process?.pid === undefined)
      this.#process = new EvaluationProcess(memoryMb, this.#reports.noteFault)
    const question = { name, input: { ...input, ...bounds } }
    const reply = await this.#process.ask(question, Math.ceil(timeoutMs * grace))
    if ('fault' in reply) throw reply.fault
    if ('ended' in reply) throw this.#refuseAfterEnd(name, reply)
    const result = reply.result as ReturnType<EvaluationTasks[Name]>
    if (isOverrun(result)) throw this.#refuse(name, result.overrun)
    return result as ResultOf<Name>
  }

  #refuseAfterEnd(name: EvaluationTask, { ended }: Ending): Refusal {
    if (ended === 'late') return this.#refuse(name, 'ms')
    if (ended === 'out of memory') return this.#refuse(name, 'memory')
    return refusals.unavailable(ended === 'closed' ? new Error('The API ends') : ended)
  }

  #refuse(name: EvaluationTask, bound: Overrun['overrun'] | 'memory'): Refusal {
    const { timeoutMs, work, memoryMb } = this.#limits
    this.#reports.noteRefusal(reasons[bound])
    const advice = adviceFor[name]
    if (bound === 'ms') return refusals.evaluationTooLong(timeoutMs, advice)
    if (bound === 'units') return refusals.evaluationTooMuch(work, advice)
    if (bound === 'memory') return refusals.evaluationTooLarge(memoryMb, advice)
    return refusals.resultTooLarge(maxResponseMib, advice)
  }

  /** Call it when no request is left. */
  async close(): Promise<void> {
    await this.#process?.close()
  }
}
