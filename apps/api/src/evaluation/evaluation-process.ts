import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { EvaluationTasks } from './evaluation-tasks.js'

export interface EvaluationQuestion {
  name: keyof EvaluationTasks
  input: unknown
}

/** What the process sends: that it is ready, and a reply to each question. */
export type ChildMessage = 'ready' | { result: unknown } | { fault: Error }

/** Why there is no reply: the process has ended. */
export interface Ending {
  ended: 'late' | 'out of memory' | 'closed' | Error
}

/** A process that has not started by then (ms) never will. */
const longestStartMs = 15_000
/** A process without questions ends after this time (ms): it takes 55 to 75 MB. */
const idleMs = 60_000
/** Of one half of the young heap (MB): with V8's own 16, a process that has had a thousand small questions takes 107 MB instead of 74. */
const youngMb = 4
/** Before V8 ends the process it writes why, and then a stack. */
const maxLastWords = 8_192

/**
 * A child process that answers one question after the other. Only a process is a wall: an allocation beyond the limit of a thread's heap can end the
 * whole process.
 *
 *   starting ─▶ ready ◀──▶ answering ─▶ late, or out of memory: ended
 *      │          └─▶ without a question for a minute: ended
 *      └─▶ ended
 */
export class EvaluationProcess {
  readonly #child: ChildProcess
  readonly #ready: Promise<unknown>
  readonly #closed: Promise<void>
  #isReady = false
  #ended: Ending['ended'] | undefined
  #settle: (outcome: ChildMessage | Ending) => void = () => {}
  #lastWords = ''
  #idle: NodeJS.Timeout | undefined

  /** @param noteFault is told what ended it, unless that was a question or this class */
  constructor(memoryMb: number, noteFault: (error: Error) => void) {
    // Beside this module where each has a file, and beside the bundle (scripts/bundle.mjs).
    this.#child = fork(fileURLToPath(new URL('./evaluation-child.js', import.meta.url)), {
      // None of the parent's: they may open a debugger, or limit the heap.
      execArgv: [`--max-old-space-size=${memoryMb}`, `--max-semi-space-size=${youngMb}`],
      // No secret stands beside what callers ask.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-maxLastWords)
    })
    this.#child.on('message', (message: ChildMessage) => {
      this.#isReady = true
      this.#settle(message)
    })
    this.#closed = new Promise((resolve) => {
      const close = (error: Error) => {
        const isFull = this.#isReady && /out of memory|\bOOM\b/i.test(this.#lastWords)
        this.#ended ??= isFull ? 'out of memory' : error
        if (this.#ended instanceof Error) noteFault(this.#ended)
        this.#settle({ ended: this.#ended })
        resolve()
      }
      this.#child.on('error', close)
      this.#child.once('close', (code, signal) => close(new Error(`${signal ?? code}: ${this.#lastWords}`)))
    })
    this.#ready = this.#await(longestStartMs, new Error(`It did not start within ${longestStartMs} ms`))
  }

  /** undefined as soon as it ends. */
  get pid(): number | undefined {
    return this.#ended === undefined ? this.#child.pid : undefined
  }

  /** Call it when the question before has its reply. */
  async ask(
    question: EvaluationQuestion,
    timeoutMs: number,
  ): Promise<Exclude<ChildMessage, 'ready'> | Ending> {
    clearTimeout(this.#idle)
    await this.#ready
    if (this.#ended !== undefined) return { ended: this.#ended }
    const reply = this.#await(timeoutMs, 'late')
    // If the process has just ended, its end is the reply.
    this.#child.send(question, () => {})
    const outcome = (await reply) as Exclude<ChildMessage, 'ready'> | Ending
    if (this.#ended === undefined) this.#idle = setTimeout(() => this.#end('closed'), idleMs)
    return outcome
  }

  async close(): Promise<void> {
    this.#end('closed')
    await this.#closed
  }

  #await(timeoutMs: number, ifLate: Ending['ended']): Promise<ChildMessage | Ending> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end(ifLate), timeoutMs)
      this.#settle = (outcome) => {
        clearTimeout(timer)
        this.#settle = () => {}
        resolve(outcome)
      }
    })
  }

  #end(why: Ending['ended']): void {
    clearTimeout(this.#idle)
    this.#ended ??= why
    this.#child.kill('SIGKILL')
  }
}
