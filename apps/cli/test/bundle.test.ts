import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const runFile = promisify(execFile)
const bundler = fileURLToPath(new URL('../../../../scripts/bundle.mjs', import.meta.url))
const importing = import.meta.resolve('@automation/launcher/import-as-product')
const entry = fileURLToPath(new URL('../../run.mjs', import.meta.url))
const isJavaScript = '{"type":"module","dependencies":{"@automation/near":"0.1.0"}}'
const value = (text: string) => `export const value = '${text}'\n`

/**
 * A program that needs a package, which needs another one: as they are written, compiled, and bundled. It prints where it runs from, and what
 * the far package says.
 */
async function makeProject({ testdir }: Pick<typeof t, 'testdir'>) {
  const program = `import { value } from '@automation/near'
console.log(/bundle|src/.exec(import.meta.url.split('/dist/')[1])[0], value)\n`
  const near = JSON.stringify({
    name: '@automation/near',
    type: 'module',
    exports: { '.': { default: './dist/src/index.js' } },
  })
  const through = "export { value } from '../../far/src/index.js'\n"
  const directory = testdir({
    packages: {
      near: {
        'package.json': near,
        src: { 'index.ts': through },
        dist: { src: { 'index.js': through.replace('../../far', '../../../far/dist') } },
      },
      far: { src: { 'index.ts': value('old') }, dist: { src: { 'index.js': value('compiled') } } },
    },
    apps: {
      cli: {
        'package.json': isJavaScript,
        node_modules: { '@automation': { near: t.fixture('symlink', '../../../../packages/near') } },
        src: { 'demo.ts': program },
        dist: { src: { 'demo.js': program } },
      },
    },
    'package.json': isJavaScript,
  })
  const cwd = `${directory}/apps/cli`
  await copyFile(entry, `${cwd}/run.mjs`)
  await bundle(cwd)
  return {
    cwd,
    far: `${directory}/packages/far/src/index.ts`,
    run: async () => (await runFile(process.execPath, ['run.mjs', 'demo'], { cwd })).stdout.trim(),
  }
}

t.test(
  'the bundle runs while the sources are those that it was made of, also after they were copied',
  async (t) => {
    const { run, far } = await makeProject(t)
    t.equal(await run(), 'bundle old')
    const later = new Date(Date.now() + 60_000)
    await utimes(far, later, later)
    t.equal(await run(), 'bundle old', 'a copy and a cache give files a time of their own')
  },
)

t.test('a bundle is not used where a package of a package has changed since', async (t) => {
  const { run, far } = await makeProject(t)
  await writeFile(far, value('new'))
  t.equal(await run(), 'src compiled')
  await writeFile(far, value('old'))
  t.equal(await run(), 'bundle old')
})

t.test('a bundle that does not say what it was made of is not used', async (t) => {
  const { run, cwd } = await makeProject(t)
  await writeFile(`${cwd}/dist/bundle/inputs.json`, '{')
  t.equal(await run(), 'src compiled')
  await rm(`${cwd}/dist/bundle/inputs.json`)
  t.equal(await run(), 'src compiled')
})

t.test('where only the bundle is there, as in the image, it runs', async (t) => {
  const { run, cwd } = await makeProject(t)
  await rm(`${cwd}/src`, { recursive: true })
  await rm(`${cwd}/dist/src`, { recursive: true })
  t.equal(await run(), 'bundle old')
})

t.test('a stale bundle runs where nothing is compiled', async (t) => {
  const { run, far, cwd } = await makeProject(t)
  await writeFile(far, value('new'))
  await rm(`${cwd}/dist/src`, { recursive: true })
  t.equal(await run(), 'bundle old')
})

t.test('without anything built, the program says what to do', async (t) => {
  const { run, cwd } = await makeProject(t)
  await rm(`${cwd}/dist`, { recursive: true })
  await t.rejects(run(), { code: 1, stderr: /^The product is not built yet: run `npm start` once/ })
})

t.test('a bundle has the licences of the packages in it', async (t) => {
  const { cwd, far } = await makeProject(t)
  const installed = `${cwd}/node_modules/@far/away`
  await mkdir(installed, { recursive: true })
  await writeFile(
    `${installed}/package.json`,
    JSON.stringify({ name: '@far/away', version: '1.2.3', type: 'module', license: 'MIT', main: 'index.js' }),
  )
  await writeFile(`${installed}/LICENSE.md`, 'Permission is hereby granted')
  await writeFile(`${installed}/index.js`, value('away'))
  await writeFile(far, `export { value } from '${installed}/index.js'\n`)
  await bundle(cwd)
  t.equal(
    await readFile(`${cwd}/dist/bundle/licences.txt`, 'utf8'),
    '@far/away 1.2.3: MIT\n\nPermission is hereby granted',
  )
  await rm(`${installed}/LICENSE.md`)
  await writeFile(`${installed}/README.md`, '# Away\n\n## License\nPermission, too')
  await bundle(cwd)
  t.match(await readFile(`${cwd}/dist/bundle/licences.txt`, 'utf8'), /## License\nPermission, too$/)
  await rm(`${installed}/README.md`)
  await t.rejects(bundle(cwd), { code: 1, stderr: /@far\/away has no licence/ })
})

t.test('a stack trace of the bundle names the lines of the sources, with the flag of Node', async (t) => {
  const { cwd, far } = await makeProject(t)
  await writeFile(far, "export const value = 1\n\n\nthrow new Error('far away')\n")
  await bundle(cwd)
  const args = ['--enable-source-maps', 'dist/bundle/demo.js']
  await t.rejects(runFile(process.execPath, args, { cwd }), {
    code: 1,
    stderr: /far\/src\/index\.ts:4:7\b/,
  })
})

t.test('a module that tests change is the one of the bundle', async (t) => {
  const { cwd } = await makeProject(t)
  await mkdir(`${cwd}/node_modules/shared`, { recursive: true })
  await writeFile(`${cwd}/node_modules/shared/package.json`, '{"name":"shared","version":"1.0.0"}')
  await writeFile(`${cwd}/node_modules/shared/LICENSE`, 'MIT')
  await writeFile(`${cwd}/node_modules/shared/index.js`, "exports.say = () => 'as it is'\n")
  for (const file of ['src/demo.ts', 'dist/src/demo.js'])
    await writeFile(`${cwd}/${file}`, "import shared from 'shared'\nconsole.log(shared.say())\n")
  await bundle(cwd, 'modules/shared')
  const preload = `import { importAsProduct } from '${importing}'
const shared = await importAsProduct('shared', () => import('shared'))
shared.say = () => 'changed'`
  await writeFile(`${cwd}/preload.mjs`, preload)
  for (const form of ['bundle', 'src']) {
    const args = [`--import=${cwd}/preload.mjs`, `dist/${form}/demo.js`]
    t.equal((await runFile(process.execPath, args, { cwd })).stdout, 'changed\n', form)
  }
})

async function bundle(cwd: string, ...modules: string[]): Promise<void> {
  await runFile(process.execPath, [bundler, 'demo', ...modules], { cwd })
}
