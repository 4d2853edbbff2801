import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeTemporaryDirectory } from '@automation/launcher'
import { build } from 'esbuild'
import t from 'tap'
import { createClient } from '../../src/create-client.js'
import { openFlakyServer } from '../fixtures/flaky-server.js'
import { startOwnProduct } from '../fixtures/product.js'

// What somebody gets who installs the package: tested from its file, in an empty directory, without a registry.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const page = await readFile(`${root}packages/client/README.md`, 'utf8')
const blocksOf = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block)

// Outside of this repository, whose packages would be found otherwise.
const { path: project, remove } = await makeTemporaryDirectory()
t.teardown(remove)
await mkdir(`${project}/packed`)
const offline = {
  ...process.env,
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_cache: `${project}/cache`,
}
const [pack = '', install = ''] = blocksOf('sh').join('').split('\n')
const packHere = `${pack.replace(/\s*#.*/, '')} -- ${project}/packed --no-image`
await run('sh', ['-c', packHere], { cwd: root, env: offline })
const installHere = install.replace('/path/to/artefacts', `${project}/packed`)
await run('sh', ['-c', installHere], { cwd: project, env: offline })
const installed = `${project}/node_modules/@automation/client`

t.test('the package contains code, types and pages, and nothing else', async (t) => {
  const files = await readdir(installed, { recursive: true, withFileTypes: true })
  const names = files
    .filter((file) => file.isFile())
    .map((file) => `${file.parentPath}/${file.name}`.slice(installed.length + 1))
  const isExpected = (name: string) =>
    /^dist\/src\/[\w/-]+(\.js|\.d\.ts)$/.test(name) ||
    /^(README\.md|CHANGELOG\.md|LICENSE(\.md)?|package\.json)$/.test(name)
  t.same(
    names.filter((name) => !isExpected(name)),
    [],
  )
  for (const name of ['README.md', 'CHANGELOG.md', 'dist/src/index.js', 'dist/src/index.d.ts'])
    t.ok(names.includes(name), name)
  t.ok(names.some((name) => name === 'dist/src/generated/api.d.ts'))
  for (const name of names.filter((one) => /\.(js|d\.ts)$/.test(one))) {
    const text = await readFile(`${installed}/${name}`, 'utf8')
    const imported = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, from]) => from)
    t.same(
      imported.filter((from) => !from?.startsWith('.')),
      [],
      `${name} imports only its own files`,
    )
    t.notMatch(text, 'sourceMappingURL', `${name} names no file that is not there`)
  }
})

t.test('the package can be published: a scoped name, types first, no dependency', async (t) => {
  const description = JSON.parse(await readFile(`${installed}/package.json`, 'utf8')) as object
  t.match(description, {
    name: /^@[\w-]+\/[\w-]+$/,
    version: /^\d+\.\d+\.\d+$/,
    private: undefined,
    type: 'module',
    sideEffects: ['./dist/src/embed/index.js'],
    license: String,
    engines: { node: String },
    exports: {
      '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' },
      './embed': { types: './dist/src/embed/index.d.ts', default: './dist/src/embed/index.js' },
    },
    dependencies: undefined,
    peerDependencies: undefined,
    optionalDependencies: undefined,
  })
  const [first] = Object.keys((description as { exports: { '.': object } }).exports['.'])
  t.equal(first, 'types', 'TypeScript takes the first condition that fits')
  const { stdout } = await run('npm', ['ls', '--all', '--json'], { cwd: project, env: offline })
  const { dependencies } = JSON.parse(stdout) as { dependencies: Record<string, { dependencies?: object }> }
  t.same(Object.keys(dependencies), ['@automation/client'])
  t.equal(dependencies['@automation/client']?.dependencies, undefined)
})

t.test('Node imports the package from an ES module and from CommonJS', async (t) => {
  const { baseUrl } = await openFlakyServer(t, [], { status: 200, body: { rules: [] } })
  const program = `
    const { createClient, ApiError, BatchError, signWebhook } = await import('@automation/client')
    if (!(new BatchError(new Error('x'), { accepted: 0, results: [], remaining: [] }) instanceof ApiError)) throw 1
    await signWebhook({ secret: 'whsec_c2VjcmV0', id: 'e', timestamp: '1', body: '' })
    console.log(JSON.stringify(await createClient({ baseUrl: '${baseUrl}' }).rules.list()))`
  await writeFile(`${project}/program.mjs`, program)
  t.equal((await run(process.execPath, ['program.mjs'], { cwd: project })).stdout.trim(), '{"rules":[]}')
  await writeFile(`${project}/program.cjs`, `void (async () => {${program}})()`)
  t.equal((await run(process.execPath, ['program.cjs'], { cwd: project })).stdout.trim(), '{"rules":[]}')
})

t.test('esbuild bundles the package for browsers, and the bundle works', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, [{ status: 503 }], { status: 200, body: { rules: [] } })
  const contents = `import { createClient } from '@automation/client'
    export const list = (baseUrl) => createClient({ baseUrl }).rules.list().then((page) => page)`
  const { outputFiles, warnings } = await build({
    stdin: { contents, resolveDir: project },
    ...{ bundle: true, minify: true, write: false, platform: 'browser', format: 'esm', target: 'es2022' },
  })
  t.same(warnings, [])
  const [bundle] = outputFiles
  t.notMatch(bundle?.text, /\brequire\(|node:|process\.env/)
  t.comment(`${bundle?.contents.length} bytes, minified`)
  await writeFile(`${project}/bundle.mjs`, bundle?.contents ?? '')
  const { list } = (await import(`${project}/bundle.mjs`)) as { list(baseUrl: string): Promise<object> }
  t.same(await list(baseUrl), { rules: [] })
  t.equal(asked.length, 2)
})

/** Each way in which TypeScript finds types, without a look away from the package's own. */
const compilers = [
  ...[`${root}node_modules/typescript`, `${root}packages/client/node_modules/typescript`].map(
    (typescript) => ({
      typescript,
      options: { module: 'nodenext', types: ['node'], lib: ['es2023'] },
    }),
  ),
  {
    typescript: `${root}node_modules/typescript`,
    options: {
      module: 'esnext',
      moduleResolution: 'bundler',
      types: [],
      lib: ['es2022', 'dom', 'dom.iterable'],
    },
  },
]

for (const [index, { typescript, options }] of compilers.entries())
  t.test(`a strict program type-checks against the package (${index}: ${options.module})`, async (t) => {
    const program = `
      import { ApiError, BatchError, type Client, createClient, type EventType, type Rule, type RuleToCreate } from '@automation/client'
      const client: Client = createClient({ baseUrl: 'https://rules.example.com', apiKey: 'ark_x' })
      // The names of the catalogue are literals, which an editor completes; any other text is a type, too.
      type Literals<Type> = Type extends string ? (string extends Type ? never : Type) : never
      const known: Literals<EventType> = 'LEAD_CREATED'
      // @ts-expect-error: it is not in the catalogue
      const unknown: Literals<EventType> = 'PAYMENT_FAILED'
      const trigger: Literals<RuleToCreate['trigger']> = known
      // @ts-expect-error: a number is no event type
      const number: EventType = 7
      export const types: EventType[] = [known, unknown, trigger, number, 'PAYMENT_FAILED']
      export async function work(): Promise<string> {
        const rule: Rule = await client.rules.get('x')
        await client.trigger('PAYMENT_FAILED', {})
        const run = await client.trigger('LEAD_CREATED', { score: 1 })
        // @ts-expect-error: an accepted run has no results yet
        run.results
        for await (const task of client.tasks.list()) if (task.title === rule.name) break
        const report = await client.triggerBatch('LEAD_CREATED', [{ data: {} }]).catch((error: unknown) => {
          if (error instanceof BatchError) return error
          throw error instanceof ApiError ? error.errors?.[0]?.field : error
        })
        return report.results.map(({ status, idempotencyKey }) => status + idempotencyKey).join()
      }`
    const directory = `${project}/check-${index}`
    await mkdir(directory)
    await writeFile(`${directory}/program.ts`, program)
    const compilerOptions = {
      ...{ strict: true, noEmit: true, exactOptionalPropertyTypes: true, target: 'es2022' },
      typeRoots: [`${root}node_modules/@types`],
      ...options,
    }
    await writeFile(`${directory}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const checked = run(process.execPath, [`${typescript}/lib/tsc.js`, '--project', directory])
    t.equal(
      await checked.then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      ),
      '',
    )
  })

t.test('the program of the README type-checks and runs with the installed package', async (t) => {
  const { options } = await startOwnProduct(t)
  const { key } = await createClient(options).developer.apiKeys.create({ name: 'CI', scopes: ['admin'] })
  const blocks = blocksOf('ts')
  t.equal(
    blocks.length,
    [...page.matchAll(/^```\w/gm)].length - 1,
    'the other block is that of the installation',
  )
  const code = blocks.join('\n')
  const directory = `${project}/readme`
  await mkdir(directory)
  await writeFile(`${directory}/readme.mts`, code)
  const compilerOptions = {
    ...{ strict: true, noEmit: true, module: 'nodenext', target: 'es2023', types: ['node'] },
    typeRoots: [`${root}node_modules/@types`],
  }
  await writeFile(`${directory}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*.mts'] }))
  const tsc = `${root}node_modules/typescript/lib/tsc.js`
  const checked = run(process.execPath, [tsc, '--project', directory])
  t.equal(
    await checked.then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    ),
    '',
  )

  // It contains no syntax that only TypeScript has.
  await writeFile(`${directory}/readme.mjs`, code)
  const env = { ...process.env, RULES_URL: options.baseUrl, RULES_API_KEY: key }
  const { stdout } = await run(process.execPath, [`${directory}/readme.mjs`], { env })
  for (const expected of [
    '1 rule matched',
    "[ 'succeeded' ]",
    'false [',
    'Call Ada',
    'somebody was faster',
    '2 events accepted',
    'v1=',
  ])
    t.match(stdout, expected)
})
