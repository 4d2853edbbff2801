// tap with its own command line, as `npm test` runs it: each process loads its modules without tap's hooks, and what is drawn
// by lot follows from the commit: TEST_SEED repeats the tests of another one.
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const preload = new URL('./without-loader-hooks.mjs', import.meta.url)
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${preload}`
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
