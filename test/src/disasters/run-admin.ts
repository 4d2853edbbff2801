import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const entry = fileURLToPath(new URL('../../../../apps/cli/run.mjs', import.meta.url))
const execute = promisify(execFile)
const mostOutput = 1e9

/** Runs a command of `npm run admin`, as an operator does. @throws Error with what it said, if it does not end with 0 */
export async function runAdmin(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { stdout } = await execute(process.execPath, [entry, 'admin', ...args], {
    env: { PATH: process.env.PATH, ...env },
    maxBuffer: mostOutput,
  })
  return stdout
}
