import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@automation/database'
import { type CpuMicros, type Part, readCpuMicros } from './cpu-time.js'
import { startLoad } from './load.js'
import { eventData, eventType } from './scenarios.js'
import type { Workspace } from './workspace.js'

/** One measurement of one round. */
export interface Figures {
  /** Done events: outcome, counters and tasks are committed. */
  eventsPerSecond: number
  /** Answered requests: in async mode the accepted events, of which some are still to be done. */
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** null where the system does not tell. */
  cpuMicrosPerEvent: CpuMicros | null
}

const warmUpSeconds = 1
const backlogPollMs = 20
const backlogLimitMs = 300_000

/** Drives one workspace from so many connections, and counts until everything that was accepted is done. */
export async function measure(options: {
  database: Database
  pids: Record<Part, number>
  workspace: Workspace
  connections: number
  seconds: number
  isAsync: boolean
}): Promise<Figures> {
  const { database, pids, workspace, connections, seconds, isAsync } = options
  const load = startLoad({
    origin: workspace.baseUrl,
    path: `/api/automation-rules/trigger/${eventType}`,
    headers: isAsync ? { ...workspace.headers, prefer: 'respond-async' } : workspace.headers,
    payload: JSON.stringify({ data: eventData }),
    expectedStatus: isAsync ? 202 : 200,
    connections,
  })
  try {
    await load.run(warmUpSeconds)
    await drainBacklog(database)
    const cpuBefore = readCpuMicros(pids)
    const startedAt = performance.now()
    const { requests, elapsedSeconds, p50Ms, p99Ms } = await load.run(seconds)
    if (isAsync) await drainBacklog(database)
    const doneSeconds = isAsync ? (performance.now() - startedAt) / 1_000 : elapsedSeconds
    const cpuAfter = readCpuMicros(pids)
    return {
      eventsPerSecond: requests / doneSeconds,
      requestsPerSecond: requests / elapsedSeconds,
      p50Ms,
      p99Ms,
      cpuMicrosPerEvent: cpuBefore && cpuAfter ? divideCpu(cpuBefore, cpuAfter, requests) : null,
    }
  } finally {
    await load.stop()
  }
}

/**
 * Waits until no event is left undone. It asks for one, not for their number: the newest is found at the end of its
 * index, while counting a long backlog again and again would be work that Postgres is then blamed for.
 */
async function drainBacklog(database: Database): Promise<void> {
  const deadline = performance.now() + backlogLimitMs
  for (;;) {
    const undone = await database.system.event.findFirst({
      where: { doneAt: null },
      orderBy: { id: 'desc' },
      select: { id: true },
    })
    if (undone === null) return
    if (performance.now() > deadline) throw new Error(`Event ${undone.id} is still not done`)
    await delay(backlogPollMs)
  }
}

function divideCpu(before: CpuMicros, after: CpuMicros, events: number): CpuMicros {
  const share = (part: Part) => (after[part] - before[part]) / events
  return {
    api: share('api'),
    worker: share('worker'),
    redis: share('redis'),
    postgres: share('postgres'),
  }
}
