import { open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { CommandError } from './command-error.js'

/**
 * Writes a file completely or not at all: the old content stays until the new one is on the disk. A device or a pipe is written
 * directly, a link keeps its target's place, and a file keeps its mode.
 *
 * @throws CommandError if it cannot be written
 */
export async function writeWholeFile(path: string, content: string): Promise<void> {
  await write(path, content).catch((error: Error) => {
    throw new CommandError(`${path} cannot be written: ${error.message}.`, { cause: error })
  })
}

async function write(path: string, content: string): Promise<void> {
  const present = await stat(path).catch(() => undefined)
  if (present !== undefined && !present.isFile()) return writeFile(path, content)
  const file = present === undefined ? path : await realpath(path)
  const unfinished = `${file}.${process.pid}.new`
  try {
    const handle = await open(unfinished, 'w', present?.mode)
    try {
      await handle.writeFile(content)
      // The umask restricts the mode of a new file.
      if (present !== undefined) await handle.chmod(present.mode & 0o7777)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
