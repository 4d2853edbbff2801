import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Stage } from '../disaster.js'

/**
 * A clock that programs have instead of that of the machine (libfaketime). It can be set while they run, as an administrator sets one: a program
 * notices within a second. Durations are not changed.
 */
export class FakeClock {
  readonly #file: string
  readonly #library: string

  private constructor(file: string, library: string) {
    this.#file = file
    this.#library = library
  }

  /** @param name of its file */
  static async open({ directory, programs }: Stage, name: string, aheadSeconds: number): Promise<FakeClock> {
    // The program knows where its library is: that for threads.
    const { stdout } = await promisify(execFile)(programs.faketime, ['-m', '-f', '+0', 'env'])
    const library = /^LD_PRELOAD=(\S+)$/m.exec(stdout)?.[1]
    if (library === undefined) throw new Error('faketime names no library')
    const clock = new FakeClock(`${directory}/${name}`, library)
    await clock.set(aheadSeconds)
    return clock
  }

  async set(aheadSeconds: number): Promise<void> {
    await writeFile(this.#file, `${aheadSeconds < 0 ? '' : '+'}${aheadSeconds}\n`)
    await chmod(this.#file, 0o644)
  }

  /** Of a program that has this clock. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    }
  }

  /** Makes a program that is another one with this clock, where no environment can be given. @returns its path */
  async wrap(program: string): Promise<string> {
    const path = `${this.#file}.sh`
    const lines = Object.entries(this.env).map(([name, value]) => `export ${name}='${value}'`)
    await writeFile(path, ['#!/bin/sh', ...lines, `exec '${program}' "$@"`, ''].join('\n'))
    await chmod(path, 0o755)
    return path
  }
}
