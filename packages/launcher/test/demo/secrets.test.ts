import { spawnSync } from 'node:child_process'
import { readFile, stat, utimes, writeFile } from 'node:fs/promises'
import t from 'tap'
import { keepSecrets } from '../../src/demo/secrets.js'

t.test('secrets are written once, and later starts leave the file alone', async (t) => {
  const file = `${t.testdir()}/secrets.json`
  const first = await keepSecrets(file)
  t.equal((await stat(file)).mode & 0o777, 0o600)
  await utimes(file, 1, 1)
  t.same(await keepSecrets(file), first)
  t.equal((await stat(file)).mtimeMs, 1_000)
})

t.test('a secret that an earlier version did not have is added, and the others stay', async (t) => {
  const file = `${t.testdir()}/secrets.json`
  await writeFile(file, '{"jwtSecret":"mine"}', { mode: 0o644 })
  const secrets = await keepSecrets(file)
  t.match(secrets, { jwtSecret: 'mine', encryptionKey: /^.{44}$/ })
  t.same(JSON.parse(await readFile(file, 'utf8')), secrets)
  t.equal((await stat(file)).mode & 0o777, 0o600)
})

t.test('a file that cannot be read is not taken for a missing one', async (t) => {
  const directory = `${t.testdir({ 'secrets.json': {} })}/secrets.json`
  await t.rejects(keepSecrets(directory), { code: 'EISDIR' })
})

t.test('a full disk loses no secret', async (t) => {
  const file = `${t.testdir()}/secrets.json`
  const old = '{"encryptionKey":"mine"}'
  await writeFile(file, old)
  const module = import.meta.resolve('../../src/demo/secrets.js')
  const script = `await (await import(${JSON.stringify(module)})).keepSecrets(${JSON.stringify(file)})`
  // No file may grow.
  const args = ['-c', 'ulimit -f 0; exec "$0" --input-type=module -e "$1"', process.execPath, script]
  t.not(spawnSync('sh', args).status, 0)
  t.equal(await readFile(file, 'utf8'), old)
})
