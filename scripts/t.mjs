// Runs test files by the names of their sources, also in a fresh clone:
//
//   npm run t -- apps/api/test/run.test.ts packages/engine/test [--watch]     a directory stands for the test files below it
//
// Compiles what the files need, and starts Postgres and Redis only if a file reads their addresses.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { compile } from './compile.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const usage = 'npm run t -- apps/api/test/run.test.ts [more files or directories] [--watch]'
/** A file that reads one of these needs the servers that with-services.js starts. */
const addresses = /\b(DATABASE_URL|REDIS_URL|TEST_POSTGRES)\b/
/** A file that starts processes needs every room; one that starts the product, or looks into its bundles or pages, needs the whole build. */
const processes = /\b(startNode|entries)\b/
const wholeBuild = /\bstartProduct\b|\/bundle\b/
const roomsOfWholeBuild = /^(test|bench|apps\/console|packages\/launcher)\//
/** Editors write a file in several steps. */
const quietMs = 100
/** Set for the process that with-services.js starts, whose servers stay while it watches. */
const hasServices = process.env.TEST_POSTGRES !== undefined

process.chdir(root)
const isWatching = process.argv.includes('--watch')
const files = process.argv.slice(2).filter((argument) => argument !== '--watch')
if (files.length === 0) fail(`Name the tests to run: ${usage}`)
const tests = files.flatMap(findTests)
const needs = findNeeds(tests)
let code = await prepare()
if (code === 0 && needs.services && !hasServices) code = await runInsideServices()
else {
  const edits = isWatching ? watchSources() : undefined
  if (code === 0) code = await runTests()
  if (edits !== undefined) await runAfterEdits(edits)
}
process.exitCode = code

/** @returns sources of tests, as paths from the root */
function findTests(name) {
  const path = relative(root, resolve(process.env.INIT_CWD ?? root, name))
  const found = [path, name].find((candidate) => !candidate.startsWith('..') && existsSync(candidate))
  if (found === undefined) fail(`There is no ${name}: ${usage}`)
  const tests = statSync(found).isDirectory()
    ? listFiles(found).filter(isTest)
    : [found].filter((file) => isTest(file))
  if (tests.length === 0) fail(`${name} has no tests: their files end in .test.ts, as in ${usage}`)
  return tests
}

function isTest(file) {
  return file.endsWith('.test.ts') && /^(apps|packages|bench|test)\//.test(file)
}

function listFiles(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => !['node_modules', 'dist', 'generated'].includes(name))
    .flatMap((entry) => {
      const path = `${directory}/${entry.name}`
      return entry.isDirectory() ? listFiles(path) : [path]
    })
    .sort()
}

/** Follows the imports of other tests' files, so that a fixture counts like the test itself. */
function findNeeds(sources) {
  const texts = new Map()
  const read = (file) => {
    if (texts.has(file) || !existsSync(file)) return
    texts.set(file, readFileSync(file, 'utf8'))
    for (const [, name] of texts.get(file).matchAll(/\b(?:from|import)[ (]*'(\.(?!.*\/src\/)[^']+)'/g))
      read(resolve(dirname(file), name.replace(/\.js$/, '.ts')))
  }
  for (const file of sources) read(resolve(file))
  const has = (pattern) => [...texts.values()].some((text) => pattern.test(text))
  const build = has(wholeBuild) || sources.some((file) => roomsOfWholeBuild.test(file))
  return { build, everyRoom: has(processes), services: build || has(addresses) }
}

/** Installs what is missing and compiles. @returns an exit code */
async function prepare() {
  if (needs.build) return await run(process.execPath, ['scripts/bootstrap.mjs', '--tap'])
  const installed = await run(process.execPath, ['scripts/bootstrap.mjs', '--tap', '--no-build'])
  return installed || (await compileRooms())
}

function compileRooms() {
  return compile(
    needs.everyRoom ? ['.'] : [...tests.map(roomOf), ...(needs.services ? ['packages/launcher'] : [])],
  )
}

function runInsideServices() {
  return run(process.execPath, [
    'packages/launcher/dist/src/with-services.js',
    ...[process.execPath, ...process.argv.slice(1)],
  ])
}

function runTests() {
  return run(process.execPath, ['scripts/tap.mjs', '--jobs=1', ...tests.map(compiledOf)])
}

/** @returns how many edits there were so far; an edit during a run counts for the next one */
function watchSources() {
  const edits = { count: 0 }
  for (const directory of ['apps', 'packages', 'test', 'bench']) {
    watch(directory, { recursive: true }, (_, file) => {
      if (/^(?!.*(node_modules|\bdist\b|generated)).*\.tsx?$/.test(file ?? '')) edits.count++
    })
  }
  return edits
}

/** Runs the tests after each edit, until it is interrupted. */
async function runAfterEdits(edits) {
  console.log('Waiting for an edit …')
  for (let seen = 0; ; await delay(quietMs)) {
    if (edits.count === seen) continue
    while (edits.count !== seen) {
      seen = edits.count
      await delay(quietMs)
    }
    code = (await (needs.build ? prepare() : compileRooms())) || (await runTests())
    console.log('Waiting for an edit …')
  }
}

function roomOf(file) {
  return /^(?:(?:apps|packages)\/)?[^/]+/.exec(file)[0]
}

function compiledOf(file) {
  const room = roomOf(file)
  return `${room}/dist${file.slice(room.length).replace(/\.ts$/, '.js')}`
}

/** @returns its exit code; an interrupt reaches it by itself */
async function run(program, args) {
  const child = spawn(program, args, { stdio: 'inherit' })
  const passOn = (signal) => child.kill(signal)
  process.on('SIGINT', () => undefined).on('SIGTERM', passOn)
  const [exitCode] = await once(child, 'exit')
  process.off('SIGTERM', passOn)
  return exitCode ?? 1
}

function fail(message) {
  console.error(message)
  process.exit(2)
}
