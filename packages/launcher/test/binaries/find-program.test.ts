import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { CannotStart } from '../../src/cannot-start.js'

const module = new URL('../../src/binaries/find-program.js', import.meta.url).href
const installer = process.platform === 'darwin' ? 'brew' : 'apt-get'
const canInstall = process.platform === 'darwin' || process.getuid?.() === 0
const noInstaller = canInstall ? false : 'apt-get is for root'

const search = `
  const { findProgram } = await import(${JSON.stringify(module)})
  const program = { title: 'Sparrow', commands: ['sparrow', 'finch'], aptPackage: 'bird', brewArguments: ['bird'], instructions: 'Catch one.' }
  await findProgram(program).then((path) => console.log('found ' + path), (error) => console.log(error.name + ': ' + error.message))
`

/** A script that stands in for apt-get and brew. */
function installing(program: string): string {
  const path = `"$(dirname "$0")/${program}"`
  return `PATH=/bin:/usr/bin; [ "$1" = update ] || { echo > ${path} && chmod +x ${path}; }`
}

/** Puts shell scripts on a separate PATH, and runs the search in a separate process with that PATH. */
async function openPath(t: Test, scripts: Record<string, string>, variables: Record<string, string> = {}) {
  const directory = t.testdir()
  const bin = `${directory}/bin`
  await mkdir(bin)
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(`${bin}/${name}`, `#!/bin/sh\n${script}\n`)
    await chmod(`${bin}/${name}`, 0o755)
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', search], {
    env: { ...variables, PATH: bin },
  })
  return { bin, stdout, said: stdout.trim().split('\n').at(-1) }
}

t.test('the first name found on the PATH is used, and nothing is installed', async (t) => {
  const { bin, said } = await openPath(t, { finch: '', [installer]: 'exit 1' })
  t.equal(said, `found ${bin}/finch`)
})

t.test(
  'a missing program is installed, and the command is announced before',
  { skip: noInstaller },
  async (t) => {
    const { bin, said, stdout } = await openPath(t, { [installer]: installing('sparrow') })
    t.equal(said, `found ${bin}/sparrow`)
    const announced =
      /^Sparrow is missing and will be installed with `(apt-get|brew) install .*bird` \(AUTO_INSTALL=0 forbids this\)\nInstalling Sparrow …/
    t.match(stdout, announced)
  },
)

t.test(
  'AUTO_INSTALL=0 forbids the installation, and the error says what else to do',
  { skip: noInstaller },
  async (t) => {
    const { said } = await openPath(t, { [installer]: installing('sparrow') }, { AUTO_INSTALL: '0' })
    t.equal(said, 'CannotStart: Sparrow is missing, and AUTO_INSTALL=0 forbids its installation. Catch one.')
  },
)

t.test('a Ctrl-C during an installation does not cut it in half', { skip: noInstaller }, async (t) => {
  const directory = t.testdir({ bin: {} })
  // Reports its start, and ends only after the signal was sent.
  const script = `PATH=/bin:/usr/bin; [ "$1" = update ] && exit; : > begun; while [ ! -e sent ]; do sleep 0.05; done; ${installing('sparrow')}`
  await writeFile(`${directory}/bin/${installer}`, `#!/bin/sh\n${script}\n`)
  await chmod(`${directory}/bin/${installer}`, 0o755)
  // A group of its own, as a terminal gives it to a command. The launcher goes on until the installation has ended.
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', `process.on('SIGINT', () => {})\n${search}`],
    {
      cwd: directory,
      detached: true,
      env: { PATH: `${directory}/bin` },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const printed = text(child.stdout)
  const exited = once(child, 'exit')
  while (!existsSync(`${directory}/begun`)) await delay(20)
  process.kill(-(child.pid ?? 0), 'SIGINT')
  await writeFile(`${directory}/sent`, '')
  await exited
  t.match(await printed, `found ${directory}/bin/sparrow`)
})

t.test('if the installation fails or is not possible, the error contains the instructions', async (t) => {
  const missing = await openPath(t, {})
  t.equal(missing.said, `${CannotStart.name}: Sparrow is missing. Catch one.`)
  if (!canInstall) return
  const failing = await openPath(t, { [installer]: 'exit 1' })
  t.equal(failing.said, 'Catch one.')
  const useless = await openPath(t, { [installer]: 'exit 0' })
  t.equal(useless.said, 'CannotStart: Sparrow was installed, but is not on the PATH. Catch one.')
})
