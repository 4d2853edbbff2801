// Runs test files by the names of their sources, also in a fresh clone:
//
//   npm run t -- apps/api/test/run.test.ts packages/engine/test [--watch]     a directory stands for the test files below it, without those in `long`
//
// Compiles what has changed, without a look at the types (`npm run types`), and starts Postgres and Redis only if a file reads their addresses.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeModules } from './build.mjs'
import { compiledOf } from './compile.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const usage = 'npm run t -- apps/api/test/run.test.ts [more files or directories] [--watch]'
/** A file that reads one of these needs the servers that with-services.js starts. */
const addresses = /\b(DATABASE_URL|REDIS_URL|TEST_POSTGRES)\b/
/** A file that starts the product, or looks into its bundles or pages, needs them, too. */
const wholeBuild = /\bstartProduct\b|\/bundle\b/
const roomsOfWholeBuild = /^(test|bench|apps\/console|packages\/launcher)\//
/** Editors write a file in several steps. */
const quietMs = 100
/** Set for the process that with-services.js starts, whose servers stay while it watches. */
const hasServices = process.env.TEST_POSTGRES !== undefined
/** Set for the same process: all is compiled. */
const isPrepared = process.argv.includes('--prepared')

/** What runs now, and the exit code that a signal asks for. */
let child
let signalCode
for (const [name, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.on(name, () => {
    signalCode = exitCode
    if (child === undefined) process.exit(exitCode)
    // An interrupt reaches it by itself.
    if (name === 'SIGTERM') child.kill(name)
  })

process.chdir(root)
const isWatching = process.argv.includes('--watch')
const files = process.argv.slice(2).filter((argument) => !['--watch', '--prepared'].includes(argument))
if (files.length === 0) fail(`Name the tests to run: ${usage}`)
const tests = files.flatMap(findTests)
const needs = findNeeds(tests)
let code = isPrepared ? 0 : await prepare()
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
    .filter(({ name }) => !['node_modules', 'dist', 'generated', 'long'].includes(name))
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
  return { build, services: build || has(addresses) }
}

/** Installs what is missing and compiles. @returns an exit code */
async function prepare() {
  if (needs.build) return await run(process.execPath, ['scripts/bootstrap.mjs', '--tap'])
  const installed = await run(process.execPath, ['scripts/bootstrap.mjs', '--tap', '--no-build'])
  return installed || (await compileModules())
}

/** In this process, so that an edit costs no start of another one. @returns an exit code */
async function compileModules() {
  try {
    await makeModules()
    return 0
  } catch (error) {
    console.error(error.message)
    return 1
  }
}

function runInsideServices() {
  return run(process.execPath, [
    'packages/launcher/dist/src/with-services.js',
    ...[process.execPath, ...process.argv.slice(1), '--prepared'],
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
    code = (await (needs.build ? prepare() : compileModules())) || (await runTests())
    console.log('Waiting for an edit …')
  }
}

/** @returns its exit code. A signal ends this program, too, as soon as the child has ended. */
async function run(program, args) {
  child = spawn(program, args, { stdio: 'inherit' })
  const [exitCode] = await once(child, 'exit')
  child = undefined
  if (signalCode !== undefined) process.exit(signalCode)
  return exitCode ?? 1
}

function fail(message) {
  console.error(message)
  process.exit(2)
}
