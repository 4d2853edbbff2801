import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { readOwnTicks } from '../cpu-time.js'

/** What else the machine did during a benchmark. */
export interface Noise {
  /** The load average of the minute before this command began to work. */
  loadAverage: number
  /** The share of the time of all cores that the hypervisor gave to others; null if the system does not report it. */
  stealShare: number | null
  /** The share that processes outside of the benchmark took, with the kernel's own threads and without interrupts. */
  othersShare: number | null
}

const limits = { loadPerCore: 0.5, stealShare: 0.02, othersShare: 0.1 }
const loadAverage = loadavg()[0] ?? 0

interface Ticks {
  all: number
  busy: number
  steal: number
}

/** Begins to watch the load of the machine. The returned function ends it. */
export function watchNoise(): () => Noise {
  const before = readTicks()
  const ownBefore = readOwnTicks()
  return () => {
    const after = readTicks()
    if (before === undefined || after === undefined)
      return { loadAverage, stealShare: null, othersShare: null }
    const all = after.all - before.all
    const others = after.busy - before.busy - (readOwnTicks() - ownBefore)
    return {
      loadAverage,
      stealShare: (after.steal - before.steal) / all,
      othersShare: Math.max(0, others / all),
    }
  }
}

/** Why figures of this machine cannot be trusted; undefined if they can. */
export function describeNoise(
  { loadAverage, stealShare, othersShare }: Noise,
  cores = cpus().length,
): string | undefined {
  const reasons = [
    // Where the share of others is not known. It counts what has ended by now, such as the benchmark before.
    ...(othersShare === null && loadAverage > limits.loadPerCore * cores
      ? [`load average ${loadAverage.toFixed(1)} on ${cores} cores before the start`]
      : []),
    ...((stealShare ?? 0) > limits.stealShare ? [`${percent(stealShare)} steal`] : []),
    ...((othersShare ?? 0) > limits.othersShare
      ? [`${percent(othersShare)} of the CPU taken by other processes`]
      : []),
  ]
  return reasons.length === 0 ? undefined : reasons.join(', ')
}

export function percent(share: number | null): string {
  return share === null ? '?' : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}

/**
 * The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; see proc(5). Interrupts are not counted as busy: those
 * of the loopback are the benchmark's own, and belong to no process.
 */
function readTicks(): Ticks | undefined {
  let line: string
  try {
    line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? ''
  } catch {
    return undefined
  }
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number)
  const busy = user + nice + system
  return { all: busy + irq + softirq + idle + iowait + steal, busy, steal }
}
