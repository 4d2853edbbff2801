import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { CannotStart } from './cannot-start.js'
import { findOnPath } from './find-on-path.js'
import { tellStep } from './progress.js'

const run = promisify(execFile)

/**
 * The Redis or Valkey on the PATH. npm has none to bring, so one that is missing is installed where that is possible
 * without a question: by apt as root, by Homebrew on macOS.
 *
 * @throws CannotStart with the ways on
 */
export async function findRedisBinary(): Promise<string> {
  const found = await findOnPath('redis-server', 'valkey-server')
  if (found !== undefined) return found
  const install = await findInstaller()
  if (install === undefined) throw new CannotStart(`Redis is missing. ${waysOn}`)
  await tellStep('Installing Redis', install).catch((error: Error) => {
    throw new CannotStart(`Redis is missing and could not be installed: ${error.message.trim()}\n${waysOn}`, {
      cause: error,
    })
  })
  const installed = await findOnPath('redis-server', 'valkey-server')
  if (installed === undefined) throw new CannotStart(`Redis was installed, but is not on the PATH. ${waysOn}`)
  return installed
}

const waysOn =
  'Either install redis-server or valkey-server (as in `sudo apt-get install redis-server`, `brew install redis`) and ' +
  'start again, or set REDIS_URL to a running one, or use `docker compose up`.'

async function findInstaller(): Promise<(() => Promise<void>) | undefined> {
  if (process.platform === 'darwin') {
    const brew = await findOnPath('brew')
    return brew === undefined ? undefined : async () => void (await run(brew, ['install', 'redis']))
  }
  const apt = await findOnPath('apt-get')
  return apt === undefined || process.getuid?.() !== 0 ? undefined : () => installByApt(apt)
}

async function installByApt(apt: string): Promise<void> {
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 64 * 1024 * 1024 }
  await run(apt, ['update'], options)
  await run(apt, ['install', '-y', '--no-install-recommends', 'redis-server'], options)
  // Debian may start it as a service at once. Nobody asked for that one: ours is private to the product.
  const service = existsSync('/run/systemd/system')
    ? run('systemctl', ['disable', '--now', 'redis-server'])
    : run('service', ['redis-server', 'stop'])
  await service.catch(() => {})
}
