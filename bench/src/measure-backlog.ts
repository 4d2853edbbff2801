import { type Database, Prisma } from '@automation/database'
import type { RunningProcess } from '@automation/launcher'
import { drainBacklog } from './backlog.js'
import { readCpuMicros, shareCpu } from './cpu-time.js'
import { startLoad } from './load/load.js'
import { warmUp } from './load/warm-up.js'
import type { Figures, Measuring } from './measure.js'

/**
 * Measures acceptance and execution separately: the workers are paused while events are accepted, and then run the
 * backlog. So neither takes CPU time from the other.
 *
 * @param clear removes the backlog instead of running it, if only acceptance is measured
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
    // Only idle workers are paused, so they hold no job whose lock could expire meanwhile.
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
    // Otherwise the plans depend on chance: autovacuum may have analysed the tables while they were empty.
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
