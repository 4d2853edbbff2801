import { execFile } from 'node:child_process'
import { mkdir, open, rm, statfs } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Stage } from '../disaster.js'
import { MissingProgram } from './programs.js'

const run = promisify(execFile)
const chunk = Buffer.alloc(1_048_576)
const againMs = 50

/**
 * A small file system in memory (tmpfs), which can be filled to its last byte.
 *
 * @throws MissingProgram if this user may not mount one
 */
export class SmallDisk {
  readonly directory: string
  readonly #ballast: string
  readonly #umount: string
  #filling: Promise<void> | undefined
  #isFreed = true

  private constructor(directory: string, umount: string) {
    this.directory = directory
    this.#ballast = `${directory}/ballast`
    this.#umount = umount
  }

  static async mount({ directory, programs }: Stage, megabytes: number): Promise<SmallDisk> {
    const path = `${directory}/disk`
    await mkdir(path)
    const args = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'automation-disk', path]
    await run(programs.mount, args).catch((error: Error) => {
      throw new MissingProgram(
        `A small file system cannot be mounted, which needs root and the right to mount: ${error.message.trim()}`,
      )
    })
    return new SmallDisk(path, programs.umount)
  }

  /** Fills it, and takes every byte that is freed. Resolves when it is full. */
  async fill(): Promise<void> {
    this.#isFreed = false
    await this.#writeBallast()
    this.#filling = (async () => {
      while (!this.#isFreed) {
        await new Promise((resolve) => setTimeout(resolve, againMs))
        if (!this.#isFreed) await this.#writeBallast()
      }
    })()
  }

  async free(): Promise<void> {
    this.#isFreed = true
    await this.#filling
    await rm(this.#ballast, { force: true })
  }

  /** In MB. */
  async countFree(): Promise<number> {
    const { bavail, bsize } = await statfs(this.directory)
    return Math.round((bavail * bsize) / 1e6)
  }

  async unmount(): Promise<void> {
    await run(this.#umount, [this.directory])
  }

  /** The last chunk is written as far as there is room. */
  async #writeBallast(): Promise<void> {
    const file = await open(this.#ballast, 'a')
    try {
      for (;;) await file.write(chunk)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      await file.close()
    }
  }
}
