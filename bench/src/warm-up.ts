import type { PidsPerPart } from './cpu-time.js'
import type { Load } from './load.js'

const seconds = 1
/**
 * A process that is new takes twice the CPU an event until V8 has compiled what runs often: after 6 s, or 8 where it has but
 * a part of the load.
 */
const newSeconds = 8

const warm = new Set<number>()

/** Puts a load on processes that are about to be measured under it: for longer where any of them was not warmed up before. */
export async function warmUp(load: Load, pids: PidsPerPart): Promise<void> {
  const all = Object.values(pids).flat()
  await load.run(all.every((pid) => warm.has(pid)) ? seconds : newSeconds)
  for (const pid of all) warm.add(pid)
}
