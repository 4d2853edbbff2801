import { execFile } from 'node:child_process'
import { copyFile, rm, utimes, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const runFile = promisify(execFile)
const bundler = fileURLToPath(new URL('../../../../scripts/bundle.mjs', import.meta.url))
const entry = fileURLToPath(new URL('../../run.mjs', import.meta.url))
const isJavaScript = '{"type":"module","dependencies":{"@automation/near":"0.1.0"}}'
const value = (text: string) => `export const value = '${text}'\n`

/** A program that needs a package, which needs another one; bundled. It prints where it runs from, and what the far package says. */
async function makeProject({ testdir }: Pick<typeof t, 'testdir'>) {
  const directory = testdir({
    packages: {
      near: { dist: { src: { 'index.js': "export { value } from '../../../far/dist/src/index.js'\n" } } },
      far: { dist: { src: { 'index.js': value('old') } } },
    },
    apps: {
      cli: {
        'package.json': isJavaScript,
        dist: {
          src: {
            'demo.js': `import { value } from '../../../../packages/near/dist/src/index.js'
console.log(/bundle|src/.exec(import.meta.url.split('/dist/')[1])[0], value)\n`,
          },
        },
      },
    },
    'package.json': isJavaScript,
  })
  const cwd = `${directory}/apps/cli`
  await copyFile(entry, `${cwd}/run.mjs`)
  await runFile(process.execPath, [bundler, '--split', 'demo'], { cwd })
  return {
    cwd,
    far: `${directory}/packages/far/dist/src/index.js`,
    run: async () => (await runFile(process.execPath, ['run.mjs', 'demo'], { cwd })).stdout.trim(),
  }
}

t.test('the bundle runs while it has what is compiled, also after its files were copied', async (t) => {
  const { run, far } = await makeProject(t)
  t.equal(await run(), 'bundle old')
  const later = new Date(Date.now() + 60_000)
  await utimes(far, later, later)
  t.equal(await run(), 'bundle old', 'a copy and a cache give files a time of their own')
})

t.test('a bundle is not used where a package of a package was compiled since', async (t) => {
  const { run, far } = await makeProject(t)
  await writeFile(far, value('new'))
  t.equal(await run(), 'src new')
  await writeFile(far, value('old'))
  t.equal(await run(), 'bundle old')
})

t.test('a bundle that does not say what it was made of is not used', async (t) => {
  const { run, cwd } = await makeProject(t)
  await writeFile(`${cwd}/dist/bundle/inputs.json`, '{')
  t.equal(await run(), 'src old')
  await rm(`${cwd}/dist/bundle/inputs.json`)
  t.equal(await run(), 'src old')
})

t.test('without anything compiled, the program says what to do', async (t) => {
  const { run, cwd } = await makeProject(t)
  await rm(`${cwd}/dist`, { recursive: true })
  await t.rejects(run(), { code: 1, stderr: /^The product is not built yet: run `npm start` once/ })
})
