import fs from 'node:fs'
import { hostname } from 'node:os'

/** So much of what could not be written is kept until it can be. Further lines are lost. */
const maxKeptBytes = 1_048_576
/** How long (ms) a pipe whose reader is slow is given before the next try. */
const slowReaderMs = 10
/** After so many tries it counts as a fault: the process must not stand still with its reader. */
const maxTries = 10

/**
 * Writes log lines to a file descriptor. A full disk, or a reader that has ended, never ends the process: each line tries again, and one line
 * says so when it works again. pino's own writer drops what comes after its buffer is full without another try.
 */
export class LogWriter {
  readonly #name: string
  readonly #fd: number
  readonly #kept: Buffer[] = []
  #keptBytes = 0
  #fault: string | undefined
  #lost = 0
  #tries = 0

  constructor(name: string, fd: number) {
    this.#name = name
    this.#fd = fd
  }

  write(line: string): void {
    this.#keep(Buffer.from(line))
    try {
      for (let [first] = this.#kept; first !== undefined; [first] = this.#kept) this.#writeSome(first)
    } catch (error) {
      this.#fault = (error as NodeJS.ErrnoException).code ?? 'an error'
      return
    }
    if (this.#fault !== undefined) this.#reportGap(this.#fault)
  }

  #keep(line: Buffer): void {
    if (this.#keptBytes > 0 && this.#keptBytes + line.length > maxKeptBytes) {
      this.#lost++
      return
    }
    this.#kept.push(line)
    this.#keptBytes += line.length
  }

  /** @param first of what is kept */
  #writeSome(first: Buffer): void {
    try {
      const written = fs.writeSync(this.#fd, first)
      this.#tries = 0
      this.#keptBytes -= written
      if (written === first.length) this.#kept.shift()
      else this.#kept[0] = first.subarray(written)
    } catch (error) {
      const isSlow = (error as NodeJS.ErrnoException).code === 'EAGAIN'
      if (!isSlow || this.#fault !== undefined || ++this.#tries > maxTries) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, slowReaderMs)
    }
  }

  /** The line has the form of pino's. */
  #reportGap(fault: string): void {
    const msg = `the log could not be written (${fault}): ${this.#lost} lines are lost`
    this.#fault = undefined
    this.#lost = 0
    const line = {
      level: 40,
      time: Date.now(),
      pid: process.pid,
      hostname: hostname(),
      name: this.#name,
      msg,
    }
    this.write(`${JSON.stringify(line)}\n`)
  }
}
