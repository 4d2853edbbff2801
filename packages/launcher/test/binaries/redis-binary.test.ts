import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import t from 'tap'

const module = new URL('../../src/binaries/redis-binary.js', import.meta.url).href
const isAptHere = process.platform === 'linux' && process.getuid?.() === 0
const hasSystemd = existsSync('/run/systemd/system')

const skip = isAptHere ? false : 'apt-get is for root'
const stop = hasSystemd ? 'systemctl disable --now redis-server' : 'service redis-server stop'

t.test('the service that comes with the package is stopped', { skip }, async (t) => {
  const directory = t.testdir()
  const bin = `${directory}/bin`
  await mkdir(bin)
  const scripts = {
    'apt-get': `PATH=/bin:/usr/bin; echo "apt-get $1" >> ${directory}/calls; echo > ${bin}/redis-server; chmod +x ${bin}/redis-server`,
    service: `echo "service $*" >> ${directory}/calls`,
    systemctl: `echo "systemctl $*" >> ${directory}/calls`,
  }
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(`${bin}/${name}`, `#!/bin/sh\n${script}\n`)
    await chmod(`${bin}/${name}`, 0o755)
  }
  const search = `await (await import(${JSON.stringify(module)})).findRedisBinary()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', search], { env: { PATH: bin } })
  t.same((await readFile(`${directory}/calls`, 'utf8')).trim().split('\n'), [
    'apt-get update',
    'apt-get install',
    stop,
  ])
})
