import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import t from 'tap'
import { tryLock } from '#lock-file'

const module = import.meta.resolve('#lock-file')
const holding = `
  const { tryLock } = await import(${JSON.stringify(module)})
  console.log(tryLock(process.argv[1], process.argv[2]) !== undefined)
  setInterval(() => {}, 1_000)`

/** Locks a file in another process. */
async function lockElsewhere(file: string, kind: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', holding, file, kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  return { child, hasLock: String(line).trim() === 'true' }
}

t.test('of many processes that lock a file at once, one gets it', async (t) => {
  const file = `${t.testdir()}/lock`
  const all = await Promise.all(Array.from({ length: 8 }, () => lockElsewhere(file, 'exclusive')))
  t.equal(all.filter(({ hasLock }) => hasLock).length, 1)
  t.equal(tryLock(file, 'exclusive'), undefined)
  for (const { child } of all) child.kill('SIGKILL')
  await Promise.all(all.map(({ child }) => once(child, 'exit')))
  const descriptor = tryLock(file, 'exclusive')
  t.not(descriptor, undefined, 'the lock of a killed process has ended')
  t.equal((await lockElsewhereOnce(file)).hasLock, false)
  if (descriptor !== undefined) closeSync(descriptor)
  t.equal((await lockElsewhereOnce(file)).hasLock, true, 'closing it unlocks the file')
})

async function lockElsewhereOnce(file: string) {
  const result = await lockElsewhere(file, 'exclusive')
  result.child.kill('SIGKILL')
  await once(result.child, 'exit')
  return result
}

t.test('shared locks go together, and with no exclusive one', async (t) => {
  const file = `${t.testdir()}/lock`
  const both = await Promise.all([lockElsewhere(file, 'shared'), lockElsewhere(file, 'shared')])
  t.same(
    both.map(({ hasLock }) => hasLock),
    [true, true],
  )
  t.equal(tryLock(file, 'exclusive'), undefined)
  for (const { child } of both) child.kill()
})

const perl = spawnSync('sh', ['-c', 'command -v perl'], { encoding: 'utf8' }).stdout.trim()

t.test(
  'without flock, Perl locks the file',
  { skip: perl === '' ? 'there is no Perl' : false },
  async (t) => {
    const directory = t.testdir({ bin: { perl: t.fixture('symlink', perl) } })
    const path = process.env.PATH
    const file = `${directory}/lock`
    process.env.PATH = `${directory}/bin`
    const descriptor = tryLock(file, 'exclusive')
    const others = [tryLock(file, 'exclusive'), tryLock(file, 'shared')]
    process.env.PATH = path
    t.not(descriptor, undefined)
    t.same(others, [undefined, undefined])
    t.equal(tryLock(file, 'exclusive'), undefined, 'flock sees the lock')
    if (descriptor !== undefined) closeSync(descriptor)
  },
)

t.test('where files cannot be locked, the product runs, and one line says so', async (t) => {
  const directory = t.testdir({ bin: {} })
  const script = `
    const { tryLock } = await import(${JSON.stringify(module)})
    console.log(['a', 'b'].map((name) => tryLock(process.argv[1] + name, 'exclusive') !== undefined).join())`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script, `${directory}/`],
    { env: { PATH: `${directory}/bin` }, encoding: 'utf8' },
  )
  t.equal(stdout, 'true,true\n')
  const reason = 'neither flock (of util-linux) nor perl is on the PATH'
  t.equal(stderr, `${directory}/a cannot be locked (${reason}): do not start the product twice\n`)
})
