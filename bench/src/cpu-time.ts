import { readdirSync, readFileSync } from 'node:fs'
import type { Product, RunningProcess } from '@automation/launcher'
import type { Figures } from './table.js'

/** The four parts that an event passes through. A part may have several processes. */
export type Pids = Partial<Record<'API' | 'worker' | 'Redis' | 'Postgres', number[]>>

/** Linux reports hundredths of a second on every machine that runs Node (`getconf CLK_TCK`). */
const microsPerTick = 10_000

interface ProcessTimes {
  parentPid: number
  ownTicks: number
  /** Includes children that have ended and were waited for. */
  endedChildrenTicks: number
}

/** @param apis the processes that take the requests @param workers empty if nothing runs the events */
export function pidsOf(
  { redis, postgres }: Pick<Product, 'redis' | 'postgres'>,
  apis: readonly RunningProcess[],
  workers: readonly RunningProcess[],
): Pids {
  if (apis.length === 0 || !redis || !postgres)
    throw new Error('The product has not started all of its parts')
  const pids = (processes: readonly RunningProcess[]) => processes.map(({ pid }) => pid)
  return {
    API: pids(apis),
    ...(workers.length > 0 && { worker: pids(workers) }),
    Redis: [redis.pid],
    Postgres: [postgres.pid],
  }
}

/**
 * Measures the CPU time of each part, user and system: of its process, of its running children (all backends of Postgres) and of those that
 * have ended (autovacuum, Redis while it rewrites its log).
 *
 * @returns what one of so many events has cost since the call, in µs; empty on other systems than Linux
 */
export function measureCpu(pids: Pids): (events?: number) => Figures {
  const before = readTicks(pids)
  return (events = 1) => {
    const after = readTicks(pids)
    const micros = Object.entries(after).map(([part, ticks]) => {
      const spent = (ticks - (before[part] ?? 0)) * microsPerTick
      return [part, spent / events] as const
    })
    if (micros.length === 0) return {}
    return { ...Object.fromEntries(micros), all: micros.reduce((sum, [, own]) => sum + own, 0) }
  }
}

/** The CPU time (ticks) of this process and of all that it has started, since their starts. */
export function readOwnTicks(): number {
  return process.platform === 'linux' ? sumTree(readProcesses(), process.pid) : 0
}

function readTicks(pids: Pids): Record<string, number> {
  if (process.platform !== 'linux') return {}
  const processes = readProcesses()
  return Object.fromEntries(
    Object.entries(pids).map(([part, own]) => [
      part,
      own.reduce((sum, pid) => sum + sumTree(processes, pid), 0),
    ]),
  )
}

function sumTree(processes: Map<number, ProcessTimes>, pid: number): number {
  const times = processes.get(pid)
  if (times === undefined) throw new Error(`Process ${pid} has ended while it was measured`)
  const children = [...processes].filter(([, { parentPid }]) => parentPid === pid)
  return children.reduce(
    (sum, [child]) => sum + sumTree(processes, child),
    times.ownTicks + times.endedChildrenTicks,
  )
}

function readProcesses(): Map<number, ProcessTimes> {
  const processes = new Map<number, ProcessTimes>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const times = readTimes(name)
    if (times !== undefined) processes.set(Number(name), times)
  }
  return processes
}

/** @returns undefined for a process that has ended since it was listed */
function readTimes(pid: string): ProcessTimes | undefined {
  let line: string
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // After the name, which may contain spaces and brackets: field 3 (state) and the following ones, see proc(5).
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => Number(fields[number - 3])
  return {
    parentPid: field(4),
    ownTicks: field(14) + field(15),
    endedChildrenTicks: field(16) + field(17),
  }
}
