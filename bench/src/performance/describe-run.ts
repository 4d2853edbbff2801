import { describeNoise, percent } from '../machine/noise.js'
import type { Run } from './performance.js'

/** When, how often, for how long and where a benchmark ran. The figures of a busy machine are marked. */
export function describeRun({
  at,
  commit,
  node,
  machine,
  seconds,
  rounds,
  storage,
  noise,
}: Omit<Run, 'command' | 'results' | 'aims'>): string {
  const rounded = rounds === 1 ? '1 round' : `${rounds} rounds`
  const version = commit === undefined ? '' : `, commit ${commit}`
  const where = `${at.slice(0, 10)}${version}, Node ${node}, ${machine}, ${rounded} of ${seconds} s`
  if (storage === null || noise === null) return `${where}. Disk and other load were not recorded.`
  const fsync = `fsync ${storage.fsyncP50Ms.toFixed(2)} ms (p99 ${storage.fsyncP99Ms.toFixed(2)})`
  const disk = `${storage.fileSystem ?? 'unknown file system'}, ${fsync}`
  const { loadAverage, stealShare, othersShare } = noise
  const others = `load average ${loadAverage.toFixed(1)} before, steal ${percent(stealShare)}, other processes ${percent(othersShare)}`
  const reason = describeNoise(noise)
  const mark = reason === undefined ? '' : ` **Busy machine (${reason}): do not quote these figures.**`
  return `${where}; ${disk}; ${others}.${mark}`
}
