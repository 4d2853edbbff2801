import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { writeWholeFile } from '../src/write-whole-file.js'
import { runProcess } from './fixtures/run.js'
import { startSite } from './fixtures/site.js'

const directory = t.testdir()
const entryPoint = fileURLToPath(new URL('../../run.mjs', import.meta.url))
const { openWorkspace } = await startSite()

/** A workspace, and a file of rules that is larger than the buffer of a pipe. */
async function makeSite() {
  const { tables, env } = await openWorkspace(directory)
  const rules = Array.from({ length: 200 }, (_, index) => {
    const actions = [{ type: 'CREATE_TASK', config: { title: 'x'.repeat(500) } }]
    return { name: `Rule ${index}`, trigger: 'LEAD_CREATED', actions }
  })
  await writeFile(`${directory}/rules.json`, JSON.stringify({ version: 1, rules }))
  return { env, count: () => tables.rule.count() }
}

/** Runs a line of the shell, in which $client is the program. */
async function runShell(line: string, env: Record<string, string>) {
  const child = spawn('bash', ['-c', line], {
    cwd: directory,
    env: { ...process.env, ...env, client: `${process.execPath} ${entryPoint} client` },
  })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code, output, errors }
}

t.test('a reader that closes the pipe ends a command quietly, and a change is completed', async (t) => {
  const { env, count } = await makeSite()
  const imported = await runShell(
    `$client rules import rules.json --yes | head -1; echo \${PIPESTATUS[0]}`,
    env,
  )
  t.match(imported, { code: 0, output: /^\+ rule "Rule 0"\n0\n$/, errors: /^Target: [^\n]*\n$/ })
  t.equal(await count(), 200)
  for (const line of ['rules export', 'audit list --limit 1000', 'rules export --json'])
    t.same(await runShell(`$client ${line} | true; echo \${PIPESTATUS[0]}`, env), {
      code: 0,
      output: '0\n',
      errors: '',
    })
})

t.test(
  'an output that cannot be written is a failure with a sentence',
  { skip: existsSync('/dev/full') ? false : 'this system has no /dev/full' },
  async (t) => {
    const { env } = await makeSite()
    const { code, errors } = await runShell('$client rules export > /dev/full', env)
    t.match({ code, errors }, { code: 1, errors: /^The output cannot be written: ENOSPC[^\n]*\n$/ })
  },
)

t.test('an export that fails leaves the old file as it was', async (t) => {
  const { env } = await makeSite()
  await runProcess('client', 'rules import rules.json --yes', directory, env)
  await writeFile(`${directory}/old.yaml`, 'old', { mode: 0o640 })
  const full = await runShell('ulimit -f 8; $client rules export --output old.yaml', env)
  t.match(full, { code: 1, output: '', errors: /^old\.yaml cannot be written: EFBIG[^\n]*\n$/ })
  t.equal(await readFile(`${directory}/old.yaml`, 'utf8'), 'old')
  t.strictSame((await readdir(directory)).sort(), ['old.yaml', 'rules.json'])
  t.equal((await runProcess('client', 'rules export --output old.yaml', directory, env)).code, 0)
  t.match(
    await readFile(`${directory}/old.yaml`, 'utf8'),
    /^# yaml-language-server: \$schema=rules\.schema\.json\nversion: 1\n[\s\S]*\n\.\.\.\n$/,
  )
  t.equal((await stat(`${directory}/old.yaml`)).mode & 0o777, 0o640)
})

t.test('a file keeps a mode that the umask would not give it', async (t) => {
  const umask = process.umask(0o027)
  t.teardown(() => process.umask(umask))
  const path = `${directory}/shared.yaml`
  for (const mode of [0o664, 0o640, 0o606]) {
    await writeFile(path, 'old')
    await chmod(path, mode)
    await writeWholeFile(path, 'new')
    t.equal((await stat(path)).mode & 0o7777, mode)
    t.equal(await readFile(path, 'utf8'), 'new')
  }
  await writeWholeFile(`${directory}/new.yaml`, 'new')
  t.equal((await stat(`${directory}/new.yaml`)).mode & 0o777, 0o640, 'a new one has what the umask allows')
})
