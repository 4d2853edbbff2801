import { rm, writeFile } from 'node:fs/promises'
import { CannotStart } from '../cannot-start.js'
import { readCommand, readPid } from '../servers/left-over.js'

/**
 * Lets one launcher at a time work on a directory. The lock file of a killed launcher is taken over.
 *
 * @param mark part of the launcher's command line, which distinguishes it from a program that reuses its old pid
 * @returns whether the last launcher was killed, and a function that releases the directory
 */
export async function lockDirectory(
  file: string,
  mark: string,
): Promise<{ wasKilled: boolean; unlock: () => Promise<void> }> {
  for (let wasKilled = false; ; wasKilled = true) {
    try {
      await writeFile(file, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
      return { wasKilled, unlock: () => rm(file, { force: true }) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const pid = await readPid(file)
    if (pid !== undefined && pid !== process.pid && (await readCommand(pid))?.includes(mark)) {
      throw new CannotStart(
        `The product is already running as process ${pid}: use that one, or stop it first`,
      )
    }
    await rm(file, { force: true })
  }
}
