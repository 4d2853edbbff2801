import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
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

/** Puts shell scripts on a separate PATH, and runs the search in a separate process with that PATH. */
async function openPath(t: Test, scripts: Record<string, string>) {
  const directory = t.testdir()
  const bin = `${directory}/bin`
  await mkdir(bin)
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(`${bin}/${name}`, `#!/bin/sh\n${script}\n`)
    await chmod(`${bin}/${name}`, 0o755)
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', search], {
    env: { PATH: bin },
  })
  return { bin, said: stdout.trim().split('\n').at(-1) }
}

t.test('the first name found on the PATH is used, and nothing is installed', async (t) => {
  const { bin, said } = await openPath(t, { finch: '', [installer]: 'exit 1' })
  t.equal(said, `found ${bin}/finch`)
})

t.test('a missing program is installed', { skip: noInstaller }, async (t) => {
  const bin = '$(dirname "$0")'
  const install = `[ "$1" = install ] && echo > ${bin}/sparrow && /bin/chmod +x ${bin}/sparrow; [ "$1" = update ]`
  const script = `PATH=/bin:/usr/bin; ${install} || [ -x ${bin}/sparrow ]`
  const { bin: path, said } = await openPath(t, { [installer]: script })
  t.equal(said, `found ${path}/sparrow`)
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
