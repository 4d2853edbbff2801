import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { findProgram } from './find-program.js'

const run = promisify(execFile)

/**
 * Finds Redis or Valkey on the PATH, and installs Redis if both are missing.
 *
 * @throws CannotStart with instructions if Redis cannot be installed
 */
export function findRedisBinary(): Promise<string> {
  return findProgram({
    title: 'Redis',
    commands: ['redis-server', 'valkey-server'],
    aptPackage: 'redis-server',
    brewArguments: ['redis'],
    instructions:
      'Install redis-server or valkey-server (`sudo apt-get install redis-server` or `brew install redis`) and start ' +
      'again, or set REDIS_URL to a running server, or use `docker compose up`.',
    aroundApt: keepServices,
  })
}

/**
 * Debian may start the package's service at once. It is not needed: the product runs its own private server. A service of
 * this name that was there before is somebody else's, and stays as it is.
 */
async function keepServices(): Promise<() => Promise<void>> {
  const hadService = await findService()
  return async () => {
    if (hadService) return
    const stopping = hasSystemd()
      ? run('systemctl', ['disable', '--now', 'redis-server'])
      : run('service', ['redis-server', 'stop'])
    await stopping.catch(() => {})
  }
}

async function findService(): Promise<boolean> {
  if (hasSystemd()) return succeeds(run('systemctl', ['cat', 'redis-server']))
  // LSB: 0 is a running service, 3 a stopped one.
  return run('service', ['redis-server', 'status']).then(
    () => true,
    ({ code }: { code?: unknown }) => code === 3,
  )
}

function hasSystemd(): boolean {
  return existsSync('/run/systemd/system')
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}
