import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Workspace } from '../workspace.js'
import type { Responses } from './attacker.js'

export interface AttackOrder {
  /** Of the attack. */
  name: string
  /** Whose member attacks. */
  workspace: Workspace
  /** Of `gatherLinks` of the attack. */
  links: string[]
}

/**
 * An attack in a thread of its own (attack-thread.ts): the quiet callers must not wait because the attacker reads megabytes, and the attack must not
 * wait for them.
 *
 *   open ─▶ ready ─▶ begin ─▶ end ─▶ the responses
 */
export class AttackInThread {
  readonly #thread: Worker
  /** Rejects when the thread fails. */
  readonly #failed: Promise<never>

  private constructor(thread: Worker) {
    this.#thread = thread
    this.#failed = new Promise((_, reject) => thread.once('error', reject))
    this.#failed.catch(() => {})
  }

  /** Resolves when the attack may begin. */
  static async open(order: AttackOrder): Promise<AttackInThread> {
    const thread = new Worker(new URL('./attack-thread.js', import.meta.url), { workerData: order })
    await once(thread, 'message')
    return new AttackInThread(thread)
  }

  begin(): void {
    this.#thread.postMessage('begin')
  }

  /** Stops the attack. @returns the responses, once the last one is there */
  end(): Promise<Responses> {
    const responses = new Promise<Responses>((resolve) => this.#thread.once('message', resolve))
    this.#thread.postMessage('end')
    return Promise.race([responses, this.#failed])
  }

  async terminate(): Promise<void> {
    await this.#thread.terminate()
  }
}
