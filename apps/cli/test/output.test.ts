import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createWorkspace } from '@automation/access'
import { openDatabase } from '@automation/database'
import t from 'tap'
import { writeWholeFile } from '../src/write-whole-file.js'
import { runProcess } from './fixtures/run.js'

const directory = t.testdir()
const entryPoint = fileURLToPath(new URL('../../run.mjs', import.meta.url))
const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

/** A workspace, and a file of rules that is larger than the buffer of a pipe. */
async function makeSite() {
  const { id } = await createWorkspace({ database, actor: 'cli:test' }, { name: 'Acme', adminUserId: 'ada' })
  const rules = Array.from({ length: 200 }, (_, index) => {
    const actions = [{ type: 'CREATE_TASK', config: { title: 'x'.repeat(500) } }]
    return { name: `Rule ${index}`, trigger: 'LEAD_CREATED', actions }
  })
  await writeFile(`${directory}/rules.json`, JSON.stringify({ version: 1, rules }))
  return { id, count: () => database.forWorkspace(id).rule.count() }
}

/** Runs a line of the shell, in which $admin is the program. */
async function runShell(line: string) {
  const child = spawn('bash', ['-c', line], {
    cwd: directory,
    env: { ...process.env, admin: `${process.execPath} ${entryPoint} admin` },
  })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code, output, errors }
}

t.test('a reader that closes the pipe ends a command quietly, and a change is completed', async (t) => {
  const { id, count } = await makeSite()
  const own = `--workspace ${id}`
  const imported = await runShell(
    `$admin rules import rules.json ${own} --yes | head -1; echo \${PIPESTATUS[0]}`,
  )
  t.match(imported, { code: 0, output: /^\+ rule "Rule 0"\n0\n$/, errors: /^Target: [^\n]*\n$/ })
  t.equal(await count(), 200)
  for (const line of [`rules export ${own}`, `audit list --limit 1000 ${own}`, `rules export --json ${own}`])
    t.same(await runShell(`$admin ${line} | true; echo \${PIPESTATUS[0]}`), {
      code: 0,
      output: '0\n',
      errors: '',
    })
})

t.test(
  'an output that cannot be written is a failure with a sentence',
  { skip: existsSync('/dev/full') ? false : 'this system has no /dev/full' },
  async (t) => {
    const { id } = await makeSite()
    const { code, errors } = await runShell(`$admin rules export --workspace ${id} > /dev/full`)
    t.match({ code, errors }, { code: 1, errors: /^The output cannot be written: ENOSPC[^\n]*\n$/ })
  },
)

t.test('an export that fails leaves the old file as it was', async (t) => {
  const { id } = await makeSite()
  const own = `--workspace ${id}`
  await runProcess('admin', `rules import rules.json ${own} --yes`, directory)
  await writeFile(`${directory}/old.yaml`, 'old', { mode: 0o640 })
  const full = await runShell(`ulimit -f 8; $admin rules export ${own} --output old.yaml`)
  t.match(full, { code: 1, output: '', errors: /^old\.yaml cannot be written: EFBIG[^\n]*\n$/ })
  t.equal(await readFile(`${directory}/old.yaml`, 'utf8'), 'old')
  t.strictSame((await readdir(directory)).sort(), ['old.yaml', 'rules.json'])
  t.equal((await runProcess('admin', `rules export ${own} --output old.yaml`, directory)).code, 0)
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
