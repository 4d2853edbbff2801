import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { findProgram } from './find-program.js'

const run = promisify(execFile)

/**
 * The Redis or Valkey on the PATH, installed where it is missing.
 *
 * @throws CannotStart with the ways on
 */
export function findRedisBinary(): Promise<string> {
  return findProgram({
    title: 'Redis',
    commands: ['redis-server', 'valkey-server'],
    aptPackage: 'redis-server',
    brewArguments: ['redis'],
    waysOn:
      'Either install redis-server or valkey-server (as in `sudo apt-get install redis-server`, `brew install redis`) and ' +
      'start again, or set REDIS_URL to a running one, or use `docker compose up`.',
    afterApt: stopService,
  })
}

/** Debian may start it as a service at once. Nobody asked for that one: ours is private to the product. */
async function stopService(): Promise<void> {
  const service = existsSync('/run/systemd/system')
    ? run('systemctl', ['disable', '--now', 'redis-server'])
    : run('service', ['redis-server', 'stop'])
  await service.catch(() => {})
}
