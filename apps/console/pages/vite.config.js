import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { findSource } from '../../../scripts/sources.mjs'

/**
 * A file of typebox tries `new Function` to learn whether it may. The policy of the page forbids it, and the browser would report the
 * attempt, so the page has this instead.
 */
const neverEvaluates = {
  name: 'never-evaluates',
  load: (id) =>
    id.endsWith('/system/environment/evaluate.mjs')
      ? "export const CanEvaluate = () => false\nexport function Evaluate() { throw new Error('Text is never run as code here') }"
      : undefined,
}

/** Packages of ours are read as they are written: the page needs nothing compiled. */
const fromSources = {
  name: 'from-sources',
  enforce: 'pre',
  resolveId(specifier) {
    const source = findSource(specifier)
    return source && { id: source.path, moduleSideEffects: source.sideEffects }
  },
}

const document = new URL('../../../docs/openapi.json', import.meta.url)

/** `schema:MemberToPut` is what a form needs of that schema of the API: the whole document would be larger than the page. */
const schemas = {
  name: 'schemas',
  resolveId: (id) => (id.startsWith('schema:') ? id : undefined),
  load(id) {
    if (!id.startsWith('schema:')) return undefined
    const all = JSON.parse(readFileSync(document, 'utf8')).components.schemas
    const pick = ({ $ref, type, enum: choices, items, maxLength, minimum, maximum, required, properties }) =>
      $ref
        ? pick(all[$ref.split('/').at(-1)])
        : {
            ...{ type, enum: choices, maxLength, minimum, maximum, required },
            items: items && pick(items),
            properties: properties && mapValues(properties, pick),
          }
    return `export default ${JSON.stringify(pick(all[id.slice('schema:'.length)]))}`
  },
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))
}

const nameOfFrame = 'assets/frame-[name]-[hash].js'

/** Without any package of a plugin: JSX is compiled by Vite itself, and its parts are Preact's. */
export default defineConfig(({ mode }) => ({
  plugins: [fromSources, neverEvaluates, schemas],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // `vite build --mode frame` builds the page of a frame beside the console's, which has nothing of it.
  define: { inFrame: JSON.stringify(mode === 'frame') },
  publicDir: mode === 'frame' ? false : 'public',
  build: {
    outDir: '../dist/public',
    emptyOutDir: mode !== 'frame',
    target: 'es2023',
    // The page may show both colours at once, so light-dark() stays as it is.
    cssTarget: ['chrome125', 'firefox130', 'safari18'],
    // A data: URL would be another kind of source, and the policy of the page lists as few as possible.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What most screens share is one file, and what the editor and its later parts have of the engine: by itself each set of screens that share
    // something would be another one. The parser of cron expressions is beside the engine, since few rules have one.
    rolldownOptions: {
      ...(mode === 'frame' && { input: fileURLToPath(new URL('embed.html', import.meta.url)) }),
      output: {
        ...(mode === 'frame' && { entryFileNames: nameOfFrame, chunkFileNames: nameOfFrame }),
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: /pages\/logic\/(?!editing|history|describe-(action|clause))/,
              minShareCount: 3,
            },
            { name: 'shared', test: /pages\/(state|parts)\//, minShareCount: 5 },
            {
              name: 'engine',
              // Two that are smaller than the overhead of a file are beside it.
              test: /packages\/engine\/src\/(?!schedule\/|per-key\/|explaining\/describe-change)|logic\/editing\/(find-condition-faults|group-members)/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:3003', '/session': 'http://127.0.0.1:3003' } },
}))
