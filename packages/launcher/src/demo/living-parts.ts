import { relative } from 'node:path'
import { CannotStart } from '../cannot-start.js'
import { printLine } from '../progress.js'
import { type Exit, type RunningProcess, readTail } from '../servers/running-process.js'

/** The processes that have to live: the product fails with the first that ends, unless another one takes its place. */
export class LivingParts {
  /** Throws CannotStart. */
  readonly firstDeath: Promise<never>
  readonly #retired = new Set<RunningProcess>()
  #fail: (fault: Error) => void = () => undefined

  constructor(parts: RunningProcess[]) {
    this.firstDeath = new Promise((_, reject) => {
      this.#fail = reject
    })
    for (const part of parts) this.add(part)
  }

  add(part: RunningProcess): void {
    void part.exited.then(async (exit) => {
      if (!this.#retired.has(part)) this.#fail(new CannotStart(await describeDeath(part, exit)))
    })
  }

  /** A crash of one that an edit has started is told, and no failure. */
  follow(part: RunningProcess): void {
    void part.exited.then(async (exit) => {
      if (exit.code !== 0 && !this.#retired.has(part)) printLine(await describeDeath(part, exit))
    })
  }

  /** Stops one, which is no failure then. */
  async retire(part: RunningProcess): Promise<void> {
    this.#retired.add(part)
    await part.stop()
  }
}

async function describeDeath({ name, log }: RunningProcess, { code, signal }: Exit): Promise<string> {
  const how = signal === null ? `exit code ${code}` : signal
  return `\n${name} has ended unexpectedly (${how}). The end of ${shortenPath(log)}:\n${await readTail(log)}`
}

/** As seen from here. */
export function shortenPath(path: string): string {
  const fromHere = relative('.', path)
  return fromHere.startsWith('..') ? path : fromHere
}
