import { realpath, stat, writeFile } from 'node:fs/promises'
import { replaceFile } from '@automation/process/replace-file'
import { CommandError } from './command-error.js'

/**
 * Writes a file completely or not at all: the old content stays until the new one is on the disk. A device or a pipe is written
 * directly, a link keeps its target's place, and a file keeps its mode.
 *
 * @param newMode of a file that is not there yet; undefined: what the umask allows
 * @throws CommandError if it cannot be written
 */
export async function writeWholeFile(path: string, content: string, newMode?: number): Promise<void> {
  await write(path, content, newMode).catch((error: Error) => {
    throw new CommandError(`${path} cannot be written: ${error.message}.`, { cause: error })
  })
}

async function write(path: string, content: string, newMode: number | undefined): Promise<void> {
  const present = await stat(path).catch(() => undefined)
  if (present !== undefined && !present.isFile()) return writeFile(path, content)
  if (present === undefined) return replaceFile(path, content, { mode: newMode })
  return replaceFile(await realpath(path), content, { mode: present.mode & 0o7777 })
}
