import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

/** How n8n is called: a program, and what comes before the arguments. */
export interface Command {
  program: string
  args: string[]
}

/** n8n where it was installed for this purpose (N8N_DIR, by npm, with a Node of its own where it wants one), or on the PATH. */
export function findN8n({ N8N_DIR, PATH = '' }: NodeJS.ProcessEnv): Command | undefined {
  if (N8N_DIR) {
    const entry = resolve(N8N_DIR, 'node_modules/n8n/bin/n8n')
    const node = resolve(N8N_DIR, 'node_modules/.bin/node')
    return existsSync(entry)
      ? { program: existsSync(node) ? node : process.execPath, args: [entry] }
      : undefined
  }
  const program = PATH.split(delimiter)
    .map((directory) => join(directory, 'n8n'))
    .find(isExecutable)
  return program === undefined ? undefined : { program, args: [] }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
