// tap with its own command line, as `npm test` runs it: each process loads its modules without tap's hooks, and what is drawn
// by lot follows from the commit: TEST_SEED repeats the tests of another one.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const preloads = ['./without-loader-hooks.mjs', './count-cpu.mjs']
  .map((file) => ` --import=${new URL(file, import.meta.url)}`)
  .join('')
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''}${preloads}`
// What each file has used (scripts/count-cpu.mjs), for the end of the run (scripts/report.mjs).
process.env.TEST_CPU_FILE = fileURLToPath(new URL('../.tap/cpu', import.meta.url))
process.env.TEST_CPU_PARENT = `${process.pid}`
mkdirSync(new URL('../.tap', import.meta.url), { recursive: true })
writeFileSync(process.env.TEST_CPU_FILE, '')
process.env.TEST_SEED ??= seedOfCommit()
console.log(`TEST_SEED=${process.env.TEST_SEED}`)
// Once, before files run side by side: two of them cannot install it at the same time. Where it cannot be installed, they say so.
const { findChromiumBinary } = await import('../packages/launcher/dist/src/binaries/chromium-binary.js')
await findChromiumBinary().catch(() => undefined)
const { resolve } = createRequire(import.meta.url)
await import(new URL('dist/esm/run.mjs', pathToFileURL(resolve('tap/package.json'))))

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
