// Bundles the entries of an app, after tsc: one file starts in half the time that a thousand modules take.
//
//   node ../../scripts/bundle.mjs server judging/judge-thread
//     dist/src/server.js becomes dist/bundle/server.js, and the module of a thread stands beside it; run in the app's directory
//
// A stack trace names lines of the bundle; NODE_OPTIONS=--enable-source-maps names those of the sources.
import { basename } from 'node:path'
import { build } from 'esbuild'

const entries = process.argv.slice(2)

await build({
  entryPoints: entries.map((entry) => ({ in: `dist/src/${entry}.js`, out: basename(entry) })),
  outdir: 'dist/bundle',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
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
