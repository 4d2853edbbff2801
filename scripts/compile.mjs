// Makes JavaScript of TypeScript, file by file, without a look at the types (`npm run types` checks those): each source whose time or
// size is another one than when it was compiled, in all rooms. What was made of a source that is gone is removed.
//
//   node scripts/compile.mjs
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { fileURLToPath } from 'node:url'
import { root } from './sources.mjs'

/** Time and size that each source had. */
const listFile = `${root}.turbo/compiled.json`
const isSource = /(?<!\.d)\.tsx?$/
/** Not compiled: what Vite makes of the page. */
const skipped = /(^|\/)(node_modules|dist|\.\w+)$|^apps\/console\/pages\/(?!logic$)[^/]+$/

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , room] = process.argv
  if (room === undefined) await compile()
  else {
    console.error(
      `All rooms are compiled at once, without types. To check those: node_modules/.bin/tsc -b ${room}`,
    )
    process.exitCode = 2
  }
}

/**
 * @returns the sources that were stale
 * @throws {Error} which names the faults of syntax
 */
export async function compile() {
  const { sources, now, stale } = findStale()
  if (stale.length > 0) {
    // If this is interrupted, the next one begins with these.
    writeList(
      Object.fromEntries(sources.filter((file) => !stale.includes(file)).map((file) => [file, now[file]])),
    )
    for (const room of new Set(stale.map(roomOf)))
      await transpile(
        room,
        stale.filter((file) => roomOf(file) === room),
      )
    writeList(now)
  }
  removeOrphans(new Set(sources.map(compiledOf)))
  return stale
}

export function isCompiled() {
  return findStale().stale.length === 0
}

function findStale() {
  const sources = listRooms().flatMap(listSources)
  const before = readList()
  const now = Object.fromEntries(sources.map((file) => [file, stampOf(file)]))
  const stale = sources.filter((file) => before[file] !== now[file] || !existsSync(root + compiledOf(file)))
  return { sources, now, stale }
}

function listRooms() {
  const rooms = ['apps', 'packages'].flatMap((parent) =>
    readdirSync(root + parent).map((name) => `${parent}/${name}`),
  )
  return [...rooms, 'bench', 'test'].filter((room) => existsSync(`${root}${room}/package.json`))
}

/** @returns sources, as paths from the root */
function listSources(directory) {
  return readdirSync(root + directory, { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`
    if (skipped.test(path)) return []
    return entry.isDirectory() ? listSources(path) : isSource.test(path) ? [path] : []
  })
}

function stampOf(file) {
  const { mtimeMs, size } = statSync(root + file)
  return `${Math.round(mtimeMs)} ${size}`
}

export function roomOf(file) {
  return /^(?:(?:apps|packages)\/)?[^/]+/.exec(file)[0]
}

/** `apps/api/dist/test/run.test.js` for `apps/api/test/run.test.ts`. */
export function compiledOf(file) {
  const room = roomOf(file)
  return `${room}/dist${file.slice(room.length).replace(/\.tsx?$/, '.js')}`
}

async function transpile(room, files) {
  const { build } = await import('esbuild')
  await build({
    absWorkingDir: root,
    entryPoints: files,
    outdir: `${room}/dist`,
    outbase: room,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'silent',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // A tsconfig.json would be read for each file, and says the same.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
}

/** Tests are found by what is compiled. */
function removeOrphans(compiled) {
  for (const room of listRooms())
    for (const part of ['src', 'test', 'pages']) {
      const directory = `${room}/dist/${part}`
      if (!existsSync(root + directory)) continue
      for (const name of readdirSync(root + directory, { recursive: true })) {
        const [path, extension] =
          /^(.+?)(\.js|\.js\.map|\.d\.ts)$/.exec(`${directory}/${name}`)?.slice(1) ?? []
        if (extension !== undefined && !compiled.has(`${path}.js`)) rmSync(`${root}${directory}/${name}`)
      }
    }
}

function readList() {
  try {
    return JSON.parse(readFileSync(listFile, 'utf8'))
  } catch {
    return {}
  }
}

function writeList(list) {
  mkdirSync(`${root}.turbo`, { recursive: true })
  writeFileSync(`${listFile}.new`, JSON.stringify(list))
  renameSync(`${listFile}.new`, listFile)
}
