// Bundles the entries of an app, after tsc: a few files start in a third of the time that a thousand modules take.
//
//   node ../../scripts/bundle.mjs server evaluation/evaluation-child modules/pg
//     dist/src/server.js becomes dist/bundle/server.js, and the module of a thread or a child process stands beside it. What an entry imports on demand, and
//     what two of them share, stands in files of its own. The bundle's pg is also dist/bundle/modules/pg.js, where a test can change it
//     (packages/launcher/src/import-as-product.ts). Run in the app's directory. --to=<directory> bundles into another one.
//
// dist/bundle/inputs.json has the SHA-256 of each file of ours that is in the bundles: who starts one can see that it is stale.
// dist/bundle/licences.txt has the licence of each package that is in them.
//
// A stack trace names lines of the bundle; NODE_OPTIONS=--enable-source-maps names those of the sources.
import { hash } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { build } from 'esbuild'

const [to = 'dist/bundle'] = process.argv.slice(2).flatMap((one) => one.split('--to=')[1] ?? [])
const entries = process.argv.slice(2).filter((one) => !one.startsWith('--'))

// The names of shared files change with their content.
await rm(to, { recursive: true, force: true })
const { metafile } = await build({
  entryPoints: entries.map((entry) =>
    entry.startsWith('modules/')
      ? { in: entry.slice('modules/'.length), out: entry }
      : { in: `dist/src/${entry}.js`, out: basename(entry) },
  ),
  outdir: to,
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
    ...['piscina', '@prisma/client', '@prisma/schema-engine-wasm', '@scalar/*'],
  ],
  // As Node 21 has it. Where there is none, pg looks at Response instead, and so loads all of fetch: 9 MiB, 30 ms of CPU.
  define: { navigator: '{"userAgent":"Node.js"}' },
  // CommonJS modules require Node's own modules.
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url)",
  },
})

// What is defined above has no file.
const inputs = Object.keys(metafile.inputs).filter((path) => !path.startsWith('<'))
const digests = inputs
  .filter((path) => !path.includes('node_modules/'))
  .map(async (path) => [path, hash('sha256', await readFile(path))])
await writeFile(`${to}/inputs.json`, JSON.stringify(Object.fromEntries(await Promise.all(digests))))

const packages = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))
const licences = await Promise.all([...packages].sort().map(readLicence))
await writeFile(`${to}/licences.txt`, licences.join(`\n${'-'.repeat(80)}\n\n`))

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
