// tap with its own command line, as `npm test` runs it: all tests, or the files that the command names, each of which then has a process of its
// own. Each process loads its modules without tap's hooks, and what is drawn by lot follows from the commit: TEST_SEED repeats the tests of
// another one.
//
//   node scripts/tap.mjs [--long | --large] [tap's own options] [compiled test files]
//
// --long: also the tests in directories named `long`, and larger sizes; --large: the largest sizes, for a release
import { execFileSync } from 'node:child_process'
import { mkdirSync, promises, statSync, writeFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { measureUnit } from './cpu-budget.mjs'
import { prepareTestFiles } from './test-files.mjs'

const preloads = ['./without-tap-hooks.mjs', './count-cpu.mjs', './seed-properties.mjs']
  .map((file) => ` --import=${new URL(file, import.meta.url)}`)
  .join('')
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''}${preloads}`
// What each file has used (scripts/count-cpu.mjs), for the end of the run (scripts/report.mjs).
process.env.TEST_CPU_FILE = fileURLToPath(new URL('../.tap/cpu', import.meta.url))
mkdirSync(new URL('../.tap', import.meta.url), { recursive: true })
writeFileSync(process.env.TEST_CPU_FILE, '')
process.env.TEST_SEED ??= seedOfCommit()
console.log(`TEST_SEED=${process.env.TEST_SEED}`)
if (takeOption('--large')) process.env.TEST_LARGE = process.env.TEST_LONG = '1'
if (takeOption('--long')) process.env.TEST_LONG = '1'
// Stack traces of few files name lines of TypeScript.
if (process.argv.some((argument) => /\.test\.m?js$/.test(argument))) process.env.TEST_SOURCE_MAPS = '1'
else {
  await installChromium()
  const files = prepareTestFiles(process.env.TEST_LONG !== undefined)
  process.argv.push(...files)
  keepOrder(files)
  if (process.env.TEST_LONG === undefined) process.env.TEST_CPU_UNIT = `${measureUnit()}`
}
const { resolve } = createRequire(import.meta.url)
await import(new URL('dist/esm/run.mjs', pathToFileURL(resolve('tap/package.json'))))

function takeOption(name) {
  const index = process.argv.indexOf(name)
  if (index !== -1) process.argv.splice(index, 1)
  return index !== -1
}

/**
 * tap sorts the files by their names, and has no other order. It compares names with this function, and this process compares nothing else
 * with it. Then it looks up all files at once, and starts each as soon as it has been found: here the look-ups end in their order.
 */
function keepOrder(files) {
  promises.stat = async (...args) => statSync(...args)
  syncBuiltinESMExports()
  const { localeCompare } = String.prototype
  const rankOf = (path) => files.findIndex((file) => path.endsWith(file))
  String.prototype.localeCompare = function (other, ...rest) {
    return rankOf(`${this}`) - rankOf(other) || localeCompare.call(this, other, ...rest)
  }
}

/** Once, before files run side by side: two of them cannot install it at the same time. If it cannot be installed, they say so. */
async function installChromium() {
  const { findChromiumBinary } = await import('../packages/launcher/dist/src/binaries/chromium-binary.js')
  await findChromiumBinary().catch(() => undefined)
}

/** A whole number above 0; always the same where there is no git. */
function seedOfCommit() {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return `${Number.parseInt(commit.slice(0, 6), 16) + 1}`
  } catch {
    return '1'
  }
}
