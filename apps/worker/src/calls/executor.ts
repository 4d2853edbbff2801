import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import type { Step } from '@automation/ledger'
import { advance } from '../executions/advance.js'
import { type Execution, idsOf } from '../executions/execution.js'
import { type CallParts, CallRunner } from './call-runner.js'
import { abandon, type HeldExecution, hold } from './held-execution.js'

/**
 * Continues executions beyond the job that brought them. The queue does not wait for their calls: a slow target delays nobody but
 * its own callers. A worker that ends during a call stops renewing the lease, and another worker continues from what was committed
 * last.
 */
export class Executor {
  readonly #parts: Omit<CallParts, 'closing'>
  readonly #calls: CallRunner
  readonly #underWay = new Set<Promise<void>>()
  readonly #closing = new AbortController()

  constructor(parts: Omit<CallParts, 'closing'>) {
    this.#parts = parts
    this.#calls = new CallRunner({ ...parts, closing: this.#closing.signal })
    // Every execution that waits for a slot listens to it, and many wait.
    setMaxListeners(0, this.#closing.signal)
  }

  /**
   * Advances executions up to their first calls.
   *
   * @returns those that have a call: to be committed, and then passed to `continue`, or to `abandon`. Their leases are renewed from now on:
   * it may take longer than a lease until this worker learns that they were committed.
   */
  begin(executions: Execution[]): HeldExecution[] {
    const calls: HeldExecution[] = []
    try {
      for (const execution of executions) {
        const action = advance(execution)
        if (action === undefined) continue
        const held = hold({ execution, lease: newId() }, action)
        calls.push(held)
        if (this.#calls.prepare(held)) this.#parts.leases.hold(held)
        else calls.pop()
      }
      return calls
    } catch (error) {
      for (const held of calls) this.abandon(held)
      for (const { span } of executions) span?.end(true)
      throw error
    }
  }

  /** Makes the calls of an execution that was committed. Resolves when it is finished, suspended or another worker's. */
  continue(held: HeldExecution): Promise<void> {
    return this.#track(held, () => this.#calls.run(held))
  }

  /**
   * Continues an execution that was claimed.
   *
   * @returns `placed` resolves when the gate counts what the execution holds, or it is suspended or finished. A job that waits for that keeps
   * the queue from bringing more than the worker can hold. `ended` resolves as `continue` does.
   */
  resume(step: Step<Execution>): { placed: Promise<void>; ended: Promise<void> } {
    const held = hold(step)
    let ended = Promise.resolve()
    const placed = new Promise<void>((resolve) => {
      ended = this.#track(held, () => this.#calls.resume(held, resolve)).finally(resolve)
    })
    return { placed, ended }
  }

  /** Gives up an execution that was begun, and is not continued. */
  abandon(held: HeldExecution): void {
    this.#parts.leases.release(held)
    abandon(held)
  }

  get isIdle(): boolean {
    return this.#underWay.size === 0
  }

  /** Whether no call begins any more. */
  get isStopped(): boolean {
    return this.#closing.signal.aborted
  }

  /** From now on no call begins: other workers continue the executions. */
  stop(): void {
    this.#closing.abort()
  }

  /** Waits for the calls under way, and not longer than this (ms). */
  async close(withinMs: number): Promise<void> {
    const enough = new AbortController()
    await Promise.race([
      Promise.allSettled(this.#underWay),
      setTimeout(Math.max(withinMs, 0), undefined, { signal: enough.signal }).catch(() => {}),
    ])
    enough.abort()
  }

  #track(held: HeldExecution, work: () => Promise<void>): Promise<void> {
    const tracked = this.#holdDuring(held, work)
      // The lease expires, and another worker tries.
      .catch((error) =>
        this.#parts.log.error({ err: error, ...idsOf(held.execution) }, 'execution could not continue'),
      )
      .finally(() => this.#underWay.delete(tracked))
    this.#underWay.add(tracked)
    return tracked
  }

  /** However the work ends, the lease is not renewed any longer, and the slot is free: it is left here or after a call. */
  async #holdDuring(held: HeldExecution, work: () => Promise<void>): Promise<void> {
    const { leases, suspensions } = this.#parts
    leases.hold(held)
    try {
      await suspensions.during(held.execution.event.workspaceId, work)
    } finally {
      this.abandon(held)
    }
  }
}
