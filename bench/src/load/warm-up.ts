import type { Pids } from '../cpu-time.js'
import type { Load } from './load.js'

const seconds = 1
/**
 * A new process takes twice the CPU time per event until V8 has compiled its hot functions: for 6 s, or for 8 s with a part
 * of the load.
 */
const newSeconds = 8

const warm = new Set<number>()

/** Applies a load to processes before they are measured under it: for longer if any of them is new. */
export async function warmUp(load: Load, pids: Pids): Promise<void> {
  const all = Object.values(pids).flat()
  await load.run(all.every((pid) => warm.has(pid)) ? seconds : newSeconds)
  for (const pid of all) warm.add(pid)
}
