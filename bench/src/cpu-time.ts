import { readdirSync, readFileSync } from 'node:fs'
import type { Product, RunningProcess } from '@automation/launcher'

/** The four parts that an event passes through. */
export const parts = ['api', 'worker', 'redis', 'postgres'] as const
export type Part = (typeof parts)[number]
/** A number for each running part. */
export type PerPart = Partial<Record<Part, number>>
/** A part may have several processes. */
export type PidsPerPart = Partial<Record<Part, number[]>>

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
  apis: RunningProcess[],
  workers: RunningProcess[],
): PidsPerPart {
  if (apis.length === 0 || !redis || !postgres)
    throw new Error('The product has not started all of its parts')
  const pids = (processes: RunningProcess[]) => processes.map(({ pid }) => pid)
  return {
    api: pids(apis),
    ...(workers.length > 0 && { worker: pids(workers) }),
    redis: [redis.pid],
    postgres: [postgres.pid],
  }
}

/**
 * The CPU time of each part since its start, user and system: of its process, of its running children (all backends of
 * Postgres) and of those that have ended (autovacuum, Redis while it rewrites its log). So it never falls.
 *
 * @returns an empty result on other systems than Linux
 */
export function readCpuMicros(pids: PidsPerPart): PerPart {
  if (process.platform !== 'linux') return {}
  const processes = readProcesses()
  return mapParts(
    pids,
    (_, all) => all.reduce((sum, pid) => sum + sumTree(processes, pid), 0) * microsPerTick,
  )
}

/** The CPU time (ticks) of this process and of all that it has started, since their starts. */
export function readOwnTicks(): number {
  return process.platform === 'linux' ? sumTree(readProcesses(), process.pid) : 0
}

export function mapParts<Value>(
  values: Partial<Record<Part, Value>>,
  change: (part: Part, value: Value) => number,
): PerPart {
  const entries = Object.entries(values) as [Part, Value][]
  return Object.fromEntries(entries.map(([part, value]) => [part, change(part, value)]))
}

/** The CPU time per event between two readings. */
export function shareCpu(before: PerPart, after: PerPart, events: number): PerPart {
  return mapParts(after, (part, micros) => (micros - (before[part] ?? 0)) / events)
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
