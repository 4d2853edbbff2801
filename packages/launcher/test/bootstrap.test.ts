import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { tryLock } from '#lock-file'

const root = new URL('../../../../', import.meta.url)
/** In place of the real one. */
const build = `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
const read = (file) => { try { return readFileSync(file, 'utf8') } catch { return '' } }
export const isBuilt = () => read('apps/built.ts') === read('apps/source.ts')
if (process.argv[1].endsWith('build.mjs')) {
  appendFileSync('builds', 'start\\n')
  do await new Promise((resolve) => setTimeout(resolve, 500))
  while (existsSync('hold'))
  writeFileSync('apps/built.ts', read('apps/source.ts'))
  appendFileSync('builds', 'end\\n')
}
`

/** A clone with one source, whose build writes a line at its start and at its end, and does not end while there is a file `hold`. */
async function makeClone(t: Test): Promise<string> {
  const clone = t.testdir({
    apps: {},
    bench: {},
    test: {},
    prisma: {},
    scripts: {},
    packages: { launcher: {} },
  })
  await mkdir(`${clone}/node_modules/.bin`, { recursive: true })
  for (const file of ['scripts/bootstrap.mjs', 'packages/launcher/lock-file.mjs'])
    await copyFile(new URL(file, root), `${clone}/${file}`)
  await copyFile(new URL('package.json', root), `${clone}/package.json`)
  const empty = JSON.stringify({ packages: {} })
  await writeFile(`${clone}/package-lock.json`, empty)
  await writeFile(`${clone}/node_modules/.package-lock.json`, empty)
  await writeFile(`${clone}/apps/source.ts`, 'one')
  await writeFile(`${clone}/scripts/build.mjs`, build)
  return clone
}

const start = (clone: string) => spawn(process.execPath, [`${clone}/scripts/bootstrap.mjs`])

async function bootstrap(clone: string) {
  const child = start(clone)
  const [printed, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code, printed, errors }
}

const builds = (clone: string) => readFile(`${clone}/builds`, 'utf8')

t.test('two bootstraps of one clone run one after the other', async (t) => {
  const clone = await makeClone(t)
  const both = await Promise.all([bootstrap(clone), bootstrap(clone)])
  t.same(
    both.map(({ code }) => code),
    [0, 0],
  )
  // The second one may find that the first has just made all ready.
  t.match(await builds(clone), /^(start\nend\n){1,2}$/)
})

t.test('a build goes on if its bootstrap is killed, and the next one waits for it', async (t) => {
  const clone = await makeClone(t)
  await writeFile(`${clone}/hold`, '')
  const killed = start(clone)
  const exited = once(killed, 'exit')
  while ((await builds(clone).catch(() => '')) === '') await delay(10)
  killed.kill('SIGKILL')
  await exited
  const next = start(clone)
  const [printed] = await once(next.stdout, 'data')
  t.match(`${printed}`, /^Waiting for another installation or build/)
  await rm(`${clone}/hold`)
  t.same(await once(next, 'exit'), [0, null])
  t.equal(await builds(clone), 'start\nend\n')
})

t.test('beside a running product nothing is built: changes are refused in one sentence', async (t) => {
  const clone = await makeClone(t)
  t.match(await bootstrap(clone), { code: 0 })
  const running = tryLock(`${clone}/.bootstrap.lock`, 'shared')
  t.match(await bootstrap(clone), { code: 0, printed: '', errors: '' }, 'nothing has changed')
  await writeFile(`${clone}/apps/source.ts`, 'two')
  t.same(await bootstrap(clone), {
    code: 1,
    printed: '',
    errors:
      'npm start, npm test or a benchmark runs in this directory, and packages or programs have changed since: stop it ' +
      'first, because an installation or a build would replace its files.\n',
  })
  t.equal(await builds(clone), 'start\nend\n')
  if (running !== undefined) closeSync(running)
  t.match(await bootstrap(clone), { code: 0 })
  t.equal(await builds(clone), 'start\nend\nstart\nend\n')
})
