import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The full path of the first of these programs that is on the PATH. */
export async function findOnPath(...names: string[]): Promise<string | undefined> {
  const directories = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== '')
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
