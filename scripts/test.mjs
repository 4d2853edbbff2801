// All tests, as `npm test` runs them. A file that fails beside others is repeated alone: what it promises about time it can keep only on a
// machine that it has for itself, and three files side by side on two cores leave it less. The run says which files passed alone only. It fails
// where a file fails twice, where many fail, and where a test of the whole product under faults fails: a race is never repeated away.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { failedList } from './report.mjs'

/** More files are no accident. */
const mostRepeated = 4
/** Storms, kills and mute lines, whose oracles judge what was kept and not how long it took. */
const neverRepeated = /^test\//
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

// The parent has the shared Postgres and Redis (with-services), whose CPU is counted, too.
process.env.TEST_RUN_PID = `${process.ppid}`
rmSync(failedList, { force: true })
let code = await runTap(process.argv.slice(2))
const failed = findRepeatable()
if (failed.length > 0) {
  console.log(`\nRepeated alone: ${failed.join(', ')}`)
  code = await runTap(['--jobs=1', ...failed])
  if (code === 0) console.log(`\nFAILED BESIDE OTHER TESTS, PASSED ALONE: ${failed.join(', ')}`)
}
process.exitCode = code

/** @returns its exit code */
async function runTap(args) {
  const child = spawn(process.execPath, [fileURLToPath(new URL('tap.mjs', import.meta.url)), ...args], {
    stdio: 'inherit',
  })
  const passOn = (signal) => child.kill(signal)
  for (const signal of signals) process.on(signal, passOn)
  const [exitCode, signal] = await once(child, 'exit')
  for (const name of signals) process.off(name, passOn)
  if (signal !== null) process.exit(1)
  return exitCode || (readFailed().files.length > 0 ? 1 : 0)
}

/** The files that failed, where repeating them may decide. */
function findRepeatable() {
  const { files, more } = readFailed()
  return more || files.length > mostRepeated || files.some((file) => neverRepeated.test(file)) ? [] : files
}

function readFailed() {
  try {
    return JSON.parse(readFileSync(failedList, 'utf8'))
  } catch {
    // tap itself has failed.
    return { files: [], more: true }
  }
}
