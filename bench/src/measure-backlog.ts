import { type Database, Prisma } from '@automation/database'
import type { RunningProcess } from '@automation/launcher'
import { drainBacklog } from './backlog.js'
import { readCpuMicros, shareCpu } from './cpu-time.js'
import { startLoad } from './load.js'
import type { Figures, Measuring } from './measure.js'
import { warmUp } from './warm-up.js'

/**
 * Accepting and running told apart: the workers stand still while events come in, and then run what has come in, which
 * counts as done. So neither takes the machine from the other.
 *
 * @param clear takes away what came in instead of having it run: where only accepting is asked for
 */
export async function measureBacklog(
  options: Measuring & { database: Database; workers: RunningProcess[]; clear?: () => Promise<void> },
): Promise<Figures> {
  const { order, pids, seconds, database, workers, clear, eventsPerRequest = 1 } = options
  const pauseWorkers = () => {
    for (const worker of workers) worker.kill('SIGSTOP')
  }
  const load = startLoad(order)
  try {
    // They are paused when they are idle, and so hold no job whose lock could run out meanwhile.
    if (clear !== undefined) pauseWorkers()
    await warmUp(load, pids)
    if (clear === undefined) {
      await drainBacklog(database)
      pauseWorkers()
    } else await clear()
    const cpuBefore = readCpuMicros(pids)
    const { requests, elapsedSeconds, p50Ms, p99Ms } = await load.run(seconds)
    const events = requests * eventsPerRequest
    const accepted = { acceptedPerSecond: events / elapsedSeconds, p50Ms, p99Ms }
    const cpuMicrosPerEvent = shareCpu(cpuBefore, readCpuMicros(pids), events)
    if (clear !== undefined) {
      await clear()
      return { ...accepted, donePerSecond: null, cpuMicrosPerEvent }
    }
    // Or it is left to chance (autovacuum) whether Postgres plans for tables that were empty a moment ago.
    await database.system.$executeRaw(Prisma.sql`ANALYZE events`)
    const startedAt = performance.now()
    for (const worker of workers) worker.kill('SIGCONT')
    await drainBacklog(database)
    const donePerSecond = events / ((performance.now() - startedAt) / 1_000)
    return {
      ...accepted,
      donePerSecond,
      cpuMicrosPerEvent: shareCpu(cpuBefore, readCpuMicros(pids), events),
    }
  } finally {
    for (const worker of workers) worker.kill('SIGCONT')
    await load.stop()
  }
}
