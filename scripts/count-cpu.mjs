import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

// Loaded before tap in each process of a test run (scripts/tap.mjs). A test file notes at its end the CPU that it has used, with the
// processes that it has started and that have ended; those that it has started note nothing.
const { TEST_CPU_FILE, TEST_CPU_PARENT } = process.env
if (isMainThread && process.ppid === Number(TEST_CPU_PARENT)) process.on('exit', note)

/** In ticks of Linux: hundredths of a second. Where there is no /proc, nothing is noted. */
function note() {
  try {
    // After the name, which may hold anything, in parentheses.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    appendFileSync(TEST_CPU_FILE, `${process.argv[1]}\t${ticks}\n`)
  } catch {
    return
  }
}
