import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const ticksPerSecond = 100

/**
 * The seconds of CPU that a process has used, with all that it has started: those that have ended are counted where somebody
 * waited for them.
 *
 * @returns undefined where there is no /proc
 */
export function readCpuSeconds(pid) {
  try {
    const rows = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap(readRow)
    return sumTicks(rows, pid) / ticksPerSecond
  } catch {
    return undefined
  }
}

/**
 * Notes the CPU that this process has used for a test file, with the processes that it has started and that have ended. Where there is no
 * /proc, nothing is noted.
 *
 * @param before what it had used when the file began
 * @returns the seconds that it has used in all
 */
export function noteCpu(file, before = 0) {
  const row = readRow('self')[0]
  if (row === undefined) return 0
  appendFileSync(process.env.TEST_CPU_FILE, `${file}\t${row.ticks / ticksPerSecond - before}\n`)
  return row.ticks / ticksPerSecond
}

/**
 * The CPU (seconds) of each test file of this run, as far as it has ended; empty where there is no /proc. Programs that a test starts note theirs, too:
 * it is a part of what the file has used.
 */
export function readCpuOfFiles() {
  return readFileSync(process.env.TEST_CPU_FILE, 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([path]) => /\.test\.m?js$/.test(path))
    .map(([path, seconds]) => ({ name: relative('.', path), seconds: Number(seconds) }))
}

function sumTicks(rows, pid) {
  const own = rows.find((row) => row.pid === pid)?.ticks ?? 0
  return rows.filter(({ parent }) => parent === pid).reduce((sum, row) => sum + sumTicks(rows, row.pid), own)
}

function readRow(name) {
  try {
    // After the name, which may hold anything, in parentheses.
    const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return [{ pid: Number(name), parent: Number(fields[1]), ticks }]
  } catch {
    return []
  }
}
