import { execFileSync } from 'node:child_process'
import { cpus, tmpdir } from 'node:os'
import { describeNoise, type Noise, percent, watchNoise } from './noise.js'
import { readStorage, type Storage } from './storage.js'

/** All that is needed to trust the figures of a run. */
export interface Machine {
  /** The time of the start. */
  at: string
  /** The short hash, with "-dirty" where files have changed; undefined without git. */
  commit: string | undefined
  node: string
  cpu: string
  storage: Storage
  noise: Noise
}

/** Looks at the machine before a benchmark. The returned function ends it. */
export async function observeMachine(): Promise<() => Machine> {
  const before = {
    at: new Date().toISOString(),
    commit: readCommit(),
    node: process.version,
    cpu: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    storage: await readStorage(tmpdir()),
  }
  const endWatch = watchNoise()
  return () => ({ ...before, noise: endWatch() })
}

/** One line. The figures of a busy machine are marked. */
export function describeMachine({ at, commit, node, cpu, storage, noise }: Machine): string {
  const fsync = `fsync ${storage.fsyncP50Ms.toFixed(2)} ms (p99 ${storage.fsyncP99Ms.toFixed(2)})`
  const others = `steal ${percent(noise.stealShare)}, other processes ${percent(noise.othersShare)}`
  const reason = describeNoise(noise)
  return [
    `${at.slice(0, 10)}${commit === undefined ? '' : `, commit ${commit}`}, Node ${node}, ${cpu}`,
    `${storage.fileSystem ?? 'unknown file system'}, ${fsync}`,
    `load average ${noise.loadAverage.toFixed(1)} before, ${others}`,
    ...(reason === undefined ? [] : [`BUSY MACHINE (${reason}): do not quote these figures`]),
  ].join('; ')
}

function readCommit(): string | undefined {
  try {
    const args = ['describe', '--always', '--dirty', '--exclude', '*']
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}
