import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The full path of the first of these programs that is on the PATH. */
export function findOnPath(...names: string[]): Promise<string | undefined> {
  return findIn(
    (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== ''),
    ...names,
  )
}

/** The full path of the first of these programs that is in one of the directories. */
export async function findIn(directories: string[], ...names: string[]): Promise<string | undefined> {
  for (const name of names) {
    for (const directory of directories) {
      const path = join(directory, name)
      if (await isExecutable(path)) return path
    }
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
