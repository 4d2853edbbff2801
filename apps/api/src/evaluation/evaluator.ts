import type { Entry } from '@automation/admission'
import { createKeyedMutex } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import { enter } from '../admission.js'
import { type Refusal, refusals } from '../errors.js'
import { adviceFor } from './advice.js'
import { type Bounds, isOverrun, maxResponseMib, type Overrun } from './bounds.js'
import { type Ending, EvaluationProcess } from './evaluation-process.js'
import type { EvaluationTask, EvaluationTasks } from './evaluation-tasks.js'

/** The evaluator adds the bounds. */
export type InputOf<Name extends EvaluationTask> = Omit<Parameters<EvaluationTasks[Name]>[0], keyof Bounds>
export type ResultOf<Name extends EvaluationTask> = Exclude<ReturnType<EvaluationTasks[Name]>, Overrun>

/** Evaluates, explains, renders or checks in the child process. */
export type Evaluate = <Name extends EvaluationTask>(
  name: Name,
  input: InputOf<Name>,
) => Promise<ResultOf<Name>>

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
  noteRefusal(reason: (typeof reasons)[keyof typeof reasons]): void
  /** The child process did not start, or ended for no known reason. */
  noteFault(error: Error): void
}

/** A question ends by itself when its time is over. A process that is this many times as late is ended. */
const grace = 1.5
const longestReserveMs = 3_000

/**
 * Evaluates on behalf of callers in a child process: what one request may cost holds neither triggers nor the requests of other
 * workspaces, and what ends the child ends nothing else. There is one at most, which starts when it is needed. Each question is admitted before what it is about
 * is read (admission.ts), so that what waits is small.
 *
 *   enter ─▶ run ─▶ waits for the question before it ─▶ runs in the child ─▶ result
 *    │                                        ├─▶ its time or its work is used up: a shorter result, or 400
 *                                              ├─▶ half as long again: 400, and the child is ended
 *    │                                        ├─▶ its memory is used up: 400, and the child has ended
 *    │                                        └─▶ the child ended for another reason, or does not start: 503
 *    └─▶ the caller is gone when its turn comes: not run
 */
export class Evaluator {
  readonly #limits: EvaluatorLimits
  readonly #reports: Reports
  readonly #inTurn = createKeyedMutex()
  #process: EvaluationProcess | undefined

  constructor(limits: EvaluatorLimits, reports: Reports) {
    this.#limits = limits
    this.#reports = reports
  }

  /** Of the child process, while there is one. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /**
   * Waits until a request may read and ask. It still has time for a whole question then: it is refused rather than late.
   *
   * @param continues whether it has asked before
   * @throws NotAdmitted
   */
  enter(request: FastifyRequest, continues = false): Promise<Entry> {
    const reserveMs = Math.min(this.#limits.timeoutMs * grace, longestReserveMs)
    return enter(request, 'evaluations', { reserveMs, continues })
  }

  /** Call it for a request that was admitted. @throws refusals: 400 for what takes too long or too much memory */
  run<Name extends EvaluationTask>(name: Name, input: InputOf<Name>): Promise<ResultOf<Name>> {
    return this.#inTurn('', () => this.#evaluate(name, input))
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
