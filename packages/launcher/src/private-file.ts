import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a file that only its owner can read. The old content stays until the new one is complete on the disk, so a full
 * disk or a power cut loses neither.
 *
 * @param owner another user than the launcher's
 */
export async function writePrivateFile(
  file: string,
  text: string,
  owner?: { uid: number; gid: number },
): Promise<void> {
  const unfinished = `${file}.${process.pid}.new`
  await rm(unfinished, { force: true })
  try {
    const handle = await open(unfinished, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      if (owner !== undefined) await handle.chown(owner.uid, owner.gid)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  await syncDirectory(dirname(file))
}

/** The text of a file, or undefined if there is none. Every other fault is thrown: unreadable does not mean missing. */
export async function readIfPresent(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/** Creates a directory that only its owner can enter, or closes an older one. */
export async function makePrivateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  await chmod(directory, 0o700)
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  await handle.sync().finally(() => handle.close())
}
