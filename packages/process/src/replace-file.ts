import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a file completely or not at all: the old content stays until the new one is on the disk, so neither a full disk nor a power cut
 * loses it.
 *
 * @param options.mode undefined: what the umask allows
 * @param options.owner another user than this one
 */
export async function replaceFile(
  file: string,
  content: string,
  { mode, owner }: { mode?: number | undefined; owner?: { uid: number; gid: number } | undefined } = {},
): Promise<void> {
  const unfinished = `${file}.${process.pid}.new`
  await rm(unfinished, { force: true })
  try {
    const handle = await open(unfinished, 'wx', mode)
    try {
      await handle.writeFile(content)
      if (owner !== undefined) await handle.chown(owner.uid, owner.gid)
      // The umask restricts the mode of a new file.
      if (mode !== undefined) await handle.chmod(mode)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  await syncName(file)
}

/** The new name of a file is on the disk, too. A directory that this user may only write is synced by its file system. */
export async function syncName(file: string): Promise<void> {
  const handle = await open(dirname(file), 'r').catch(() => undefined)
  await handle?.sync().finally(() => handle.close())
}
