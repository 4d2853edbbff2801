import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrate } from '@automation/database'
import { CannotStart } from './cannot-start.js'
import { holdClone } from './clone-lock.js'
import { forgetPostgresDefaults, inheritEnvironment } from './environment.js'
import { keepTemplate } from './product/private-database.js'
import { makeTemporaryDirectory } from './product/temporary-directory.js'
import { startPostgres } from './servers/postgres.js'
import { startRedis } from './servers/redis.js'
import type { Server } from './servers/server.js'

const [command, ...args] = process.argv.slice(2)
if (command === undefined) {
  console.error(
    'Name the command to run with a private Postgres and Redis, for example: with-services.js tap',
  )
  process.exit(2)
}
forgetPostgresDefaults()
const code = await runWithServices(command, args).catch((error: Error) => {
  console.error(error instanceof CannotStart ? error.message : error)
  return 1
})
// A timer of the migration's engine would keep the process alive for another ten seconds.
process.exit(code)

async function runWithServices(command: string, args: string[]): Promise<number> {
  const signals = listenToSignals()
  await holdClone()
  const directory = await makeTemporaryDirectory()
  const starting = [
    startPrepared(directory.path),
    startRedis({ directory: `${directory.path}/redis`, persistent: false }),
  ] as const
  try {
    const [postgres, redis] = await Promise.all(starting)
    await keepTemplate(postgres.url)
    if (signals.first !== undefined) return codeOf(signals.first)
    // A test file that runs alone has the limit that .taprc gives to each, in seconds.
    const { TAP_TIMEOUT = '1800' } = process.env
    const environment = {
      ...{ DATABASE_URL: postgres.url, REDIS_URL: redis.url },
      ...{ TEST_POSTGRES: postgres.prepared, TAP_TIMEOUT },
    }
    return await runCommand(command, args, environment, (forward) => {
      signals.forward = forward
    })
  } finally {
    for (const server of await Promise.allSettled(starting)) {
      if (server.status === 'rejected') continue
      await server.value.stop()
      const homes = [server.value.directory, ...('prepared' in server.value ? [server.value.prepared] : [])]
      for (const home of homes) await rm(home, { recursive: true, force: true, maxRetries: 10 })
    }
    await directory.remove()
  }
}

/** Makes a migrated Postgres and stops it, so that products of the tests can begin with a copy of it, and starts another copy. */
async function startPrepared(directory: string): Promise<Server & { prepared: string }> {
  const first = await startPostgres({ directory: `${directory}/prepared`, durable: false })
  const { directory: prepared } = first
  try {
    await migrate(first.url).finally(() => first.stop())
    const server = await startPostgres({
      directory: `${directory}/postgres`,
      durable: false,
      copyOf: prepared,
    })
    return { ...server, prepared }
  } catch (error) {
    await rm(prepared, { recursive: true, force: true, maxRetries: 10 })
    throw error
  }
}

/** From now on a signal ends the command, if it runs, but never the launcher before it has cleaned up. */
function listenToSignals() {
  const heard: { first?: NodeJS.Signals; forward?: (signal: NodeJS.Signals) => void } = {}
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      heard.first ??= name
      // A Ctrl-C in a terminal has already reached the command.
      if (name !== 'SIGINT' || !process.stdin.isTTY) heard.forward?.(name)
    })
  }
  return heard
}

function runCommand(
  command: string,
  args: string[],
  environment: Record<string, string>,
  onStarted: (forward: (signal: NodeJS.Signals) => void) => void,
): Promise<number> {
  const programs = fileURLToPath(new URL('../../../../node_modules/.bin', import.meta.url))
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: {
      ...inheritEnvironment(),
      ...environment,
      PATH: `${programs}${delimiter}${process.env.PATH ?? ''}`,
    },
  })
  onStarted((signal) => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(new CannotStart(`${command} could not be started: ${error.message}`, { cause: error }))
    })
    child.once('exit', (code, signal) => resolve(code ?? codeOf(signal)))
  })
}

/** The exit code that a shell reports for a command that a signal ended. */
function codeOf(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal])
}
