// Makes what a release consists of: the client and the command line as packages that install and run by themselves, their checksums, and the
// image where there is a container engine.
//
//   npm run artefacts                                 writes to artefacts/
//   node scripts/artefacts.mjs <directory> --no-image
//
// It needs a build. The command line is bundled, so its package has no dependencies; docs/ stands in it as it does in the repository.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findEngineFault } from './containers/compose.mjs'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const [to = join(root, 'artefacts')] = process.argv.slice(2).filter((one) => !one.startsWith('--'))
const directory = resolve(to)
const own = await readPackage('.')
const client = await readPackage('packages/client')
const { info } = JSON.parse(await readFile(join(root, 'docs/openapi.json'), 'utf8'))
for (const [place, { version }] of Object.entries({
  'packages/client/package.json': client,
  'docs/openapi.json': info,
}))
  if (version !== own.version)
    fail(`package.json has version ${own.version} and ${place} has ${version}: give them the same.`)

await mkdir(directory, { recursive: true })
const files = [await packClient(), await packCommandLine()]
await writeFile(join(directory, 'SHA256SUMS'), (await Promise.all(files.map(sum))).join(''))
for (const file of files) console.log(join(directory, file))
if (!process.argv.includes('--no-image')) await buildImage()

/** @returns the name of the package's file */
async function pack(from) {
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', directory],
    {
      cwd: from,
    },
  )
  return JSON.parse(stdout)[0].filename
}

/** Compiles into an empty directory: the compiler never removes what it has made of a source that is gone. */
async function packClient() {
  const from = join(root, 'packages/client')
  return inStage(async (stage) => {
    const project = {
      extends: join(from, 'tsconfig.json'),
      include: [join(from, 'src')],
      references: [],
      compilerOptions: {
        rootDir: from,
        outDir: join(stage, 'dist'),
        composite: false,
        emitDeclarationOnly: false,
        sourceMap: true,
        typeRoots: [join(root, 'node_modules/@types')],
      },
    }
    await writeFile(join(stage, 'tsconfig.json'), JSON.stringify(project))
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', stage])
    for (const name of ['package.json', 'README.md', 'CHANGELOG.md'])
      await cp(join(from, name), join(stage, name))
    return pack(stage)
  })
}

async function packCommandLine() {
  return inStage(async (stage) => {
    const bundle = join(stage, 'apps/cli/dist/bundle')
    await run(process.execPath, ['../../scripts/bundle.mjs', 'automation', `--to=${bundle}`], {
      cwd: join(root, 'apps/cli'),
    })
    for (const name of await readdir(bundle))
      if (name.endsWith('.map') || name === 'inputs.json') await rm(join(bundle, name))
    await chmod(join(bundle, 'automation.js'), 0o755)
    for (const path of ['docs/openapi.json', 'docs/rules.schema.json', 'CHANGELOG.md'])
      await cp(join(root, path), join(stage, path))
    await cp(join(root, 'apps/cli/README.md'), join(stage, 'README.md'))
    await writeFile(join(stage, 'package.json'), JSON.stringify(describe(), null, 2))
    return await pack(stage)
  })
}

async function inStage(work) {
  const stage = await mkdtemp(join(tmpdir(), 'automation-package-'))
  try {
    return await work(stage)
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
}

function describe() {
  return {
    name: '@automation/cli',
    version: own.version,
    description: 'Command line of the automation-rules service',
    license: client.license,
    type: 'module',
    engines: own.engines,
    bin: { automation: 'apps/cli/dist/bundle/automation.js' },
    publishConfig: client.publishConfig,
  }
}

async function sum(file) {
  const digest = createHash('sha256')
    .update(await readFile(join(directory, file)))
    .digest('hex')
  return `${digest}  ${file}\n`
}

async function buildImage() {
  const fault = await findEngineFault()
  const tag = `automation-rules:${own.version}`
  if (fault !== undefined)
    return console.log(`The image ${tag} is not built: there is no container engine here (${fault}).`)
  await run('docker', ['build', '--tag', tag, '.'], { cwd: root, maxBuffer: 1e8 })
  console.log(tag)
}

async function readPackage(path) {
  return JSON.parse(await readFile(join(root, path, 'package.json'), 'utf8'))
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
