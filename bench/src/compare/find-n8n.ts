import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

/** The command of n8n: a program and its first arguments. */
export interface Command {
  program: string
  args: string[]
}

/** Finds n8n in N8N_DIR (installed by npm, with its own Node if it needs one), or on the PATH. */
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
