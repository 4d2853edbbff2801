import { chmod, mkdir, readFile } from 'node:fs/promises'
import { replaceFile } from '@automation/process/replace-file'

/** Writes a file that only its owner can read. @param owner another user than the launcher's */
export function writePrivateFile(
  file: string,
  text: string,
  owner?: { uid: number; gid: number },
): Promise<void> {
  return replaceFile(file, text, { mode: 0o600, owner })
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
