// npm test: the tests, and beside them, with less of the CPU, what needs none of them: types, format and lint, and the document of the API.
// The first of these that fails ends the run.
//
//   node scripts/test.mjs [options of scripts/tap.mjs]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'

const programs = 'node_modules/.bin'
const checks = [
  ['docs/openapi.json', process.execPath, 'apps/api/dist/src/openapi-document.js', '--check'],
  ['Types', `${programs}/tsc`, '-b'],
  ['Types of the page', `${programs}/tsc`, '-p', 'apps/console/pages'],
  ['Format and lint', `${programs}/biome`, 'check', '.'],
]
/** A test that could run goes first. */
const niceness = 10

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const tests = spawn(
  process.execPath,
  [
    'packages/launcher/dist/src/with-services.js',
    process.execPath,
    'scripts/tap.mjs',
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit', env: { ...process.env, USE_BUNDLES: '1' } },
)
const testsEnded = once(tests, 'exit')
let check
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    check?.kill(signal)
    // A Ctrl-C in a terminal has already reached them.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) tests.kill(signal)
  })

const fault = await findFault()
if (fault !== undefined) tests.kill('SIGTERM')
const [code] = await testsEnded
if (fault !== undefined) console.error(`\n${fault}`)
process.exitCode = fault === undefined ? (code ?? 1) : 1

/** Runs the checks one after the other. @returns what the first that fails says */
async function findFault() {
  for (const [title, command, ...args] of checks) {
    const startedAt = performance.now()
    check = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    setPriority(check.pid, niceness)
    let output = ''
    for (const stream of [check.stdout, check.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    const [code] = await once(check, 'close')
    if (code !== 0) return `${output.trimEnd()}\n\n${title}: failed, and so the tests were ended.`
    console.log(`# ${title}: ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)
  }
  return undefined
}
