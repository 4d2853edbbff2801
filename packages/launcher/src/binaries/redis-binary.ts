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
    afterApt: stopService,
  })
}

/** Debian starts the package's service at once. It is not needed: the product runs its own private server. */
async function stopService(): Promise<void> {
  const stopping = existsSync('/run/systemd/system')
    ? run('systemctl', ['disable', '--now', 'redis-server'])
    : run('service', ['redis-server', 'stop'])
  await stopping.catch(() => {})
}
