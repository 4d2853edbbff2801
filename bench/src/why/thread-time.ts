import { readFileSync } from 'node:fs'

/** `getconf CLK_TCK` on every machine that runs Node */
const msPerTick = 10

/** The CPU time (ms) of a process's main thread: in Node, its event loop. NaN on other systems than Linux. */
export function readLoopMs(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN
  const line = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
  // After the name: field 3 and the following ones, see proc(5).
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[14 - 3]) + Number(fields[15 - 3])) * msPerTick
}
