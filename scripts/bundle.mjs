// Bundles the entries of an app, after tsc: one file starts in half the time that a thousand modules take.
//
//   node ../../scripts/bundle.mjs server judging/judge-thread
//     dist/src/server.js becomes dist/bundle/server.js, and the module of a thread stands beside it; run in the app's directory
//   node ../../scripts/bundle.mjs --split admin client
//     what an entry imports on demand, and what two of them share, stands in files of its own
//
// dist/bundle/inputs.json has the SHA-256 of each file of ours that is in the bundles: who starts one can see that it is stale.
//
// A stack trace names lines of the bundle; NODE_OPTIONS=--enable-source-maps names those of the sources.
import { hash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'

const { positionals: entries, values } = parseArgs({
  allowPositionals: true,
  options: { split: { type: 'boolean', default: false } },
})

// The names of shared files change with their content.
await rm('dist/bundle', { recursive: true, force: true })
const { metafile } = await build({
  entryPoints: entries.map((entry) => ({ in: `dist/src/${entry}.js`, out: basename(entry) })),
  outdir: 'dist/bundle',
  bundle: true,
  splitting: values.split,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
  external: [
    // They stay modules of their own: tests preload them, and make them fail at chosen points.
    ...['pg', 'bullmq', 'ioredis', 'nodemailer', 'undici'],
    // They are loaded on demand, or read files beside themselves.
    ...['piscina', '@opentelemetry/*', '@prisma/client', '@prisma/schema-engine-wasm', '@scalar/*'],
  ],
  // CommonJS modules require Node's own modules.
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url)",
  },
})

const digests = Object.keys(metafile.inputs)
  .filter((path) => !path.includes('node_modules/'))
  .map(async (path) => [path, hash('sha256', await readFile(path))])
await writeFile('dist/bundle/inputs.json', JSON.stringify(Object.fromEntries(await Promise.all(digests))))
