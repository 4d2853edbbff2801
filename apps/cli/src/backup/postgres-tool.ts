import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { toolEnvironment } from '@automation/database'
import { CommandError } from '../command-error.js'
import { readDatabaseUrl, readToolEnvironment, readTrustedFile } from '../config.js'
import { maskControls } from '../format.js'

type ToolName = 'pg_dump' | 'pg_restore'

/**
 * Runs a program of Postgres for the database. Its password is in no argument, and none of our keys in its environment.
 *
 * @param applicationName how Postgres lists its connection
 * @returns what it prints
 * @throws CommandError with its own words, if it fails or is missing
 */
export async function runTool(
  name: ToolName,
  args: string[],
  applicationName: string = name,
): Promise<string> {
  const variables = toolEnvironment(readDatabaseUrl().databaseUrl, readTrustedFile())
  const child = spawn(name, args, {
    env: { ...readToolEnvironment(), ...variables, PGAPPNAME: applicationName },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => child.kill()
  for (const signal of endSignals) process.once(signal, end)
  try {
    const [output, errors, [code, signal]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    if (code === 0) return output
    const words = maskControls(errors.trim().slice(-longestError).replaceAll('\n', ' '))
    throw new CommandError(`${name} ended with ${signal ?? code}: ${words || 'it says nothing'}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new CommandError(`${name} is not on the PATH. ${describeWays()}`, { cause: error })
  } finally {
    for (const signal of endSignals) process.off(signal, end)
  }
}

const endSignals = ['SIGINT', 'SIGTERM'] as const
const longestError = 2_000

/**
 * An older program does not know what a newer server stores.
 *
 * @param server as in `server_version_num`
 * @returns its version
 * @throws CommandError if the program is older than the server
 */
export async function checkTool(name: ToolName, server: number): Promise<string> {
  const [, version = '', major = ''] =
    /\(PostgreSQL\) ((\d+)\S*)/.exec(await runTool(name, ['--version'])) ?? []
  const needed = majorOf(server)
  if (Number(major) >= needed) return version
  throw new CommandError(
    `${name} is of version ${version || 'unknown'} and the server of version ${needed}. ${describeWays(needed)}`,
  )
}

export const majorOf = (server: number): number => Math.floor(server / 10_000)

function describeWays(major?: number): string {
  return (
    `Install the client of PostgreSQL ${major === undefined ? 'the server’s version' : major} or newer ` +
    `(Debian: postgresql-client${major === undefined ? '' : `-${major}`}, from apt.postgresql.org if your release has only an older one) and put it first on the PATH, ` +
    'or with Docker Compose: docker compose run --rm --build admin backup <file>, and the same with restore.'
  )
}
