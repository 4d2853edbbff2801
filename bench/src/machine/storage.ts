import { open, readFile, rm } from 'node:fs/promises'
import { quantile } from '../statistics.js'

/** The disk under Postgres and Redis: an event costs at least a share of a commit, and a commit an fsync. */
export interface Storage {
  /** Such as "ext4"; null if the system does not report it. */
  fileSystem: string | null
  /** Of one block of 8 KiB (ms). */
  fsyncP50Ms: number
  fsyncP99Ms: number
}

const blockBytes = 8_192
const blocks = 200

export async function readStorage(directory: string): Promise<Storage> {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '')
  return { fileSystem: findFileSystem(mounts, directory), ...(await measureFsync(directory)) }
}

/** @param mounts lines of /proc/self/mounts, see proc(5) */
export function findFileSystem(mounts: string, directory: string): string | null {
  let longest = { point: '', type: null as string | null }
  for (const line of mounts.split('\n')) {
    const [, point = '', type = ''] = line.split(' ')
    const isAbove = point === '/' || directory === point || directory.startsWith(`${point}/`)
    // A later mount hides an earlier one on the same point.
    if (point !== '' && isAbove && point.length >= longest.point.length) longest = { point, type }
  }
  return longest.type
}

async function measureFsync(directory: string): Promise<Pick<Storage, 'fsyncP50Ms' | 'fsyncP99Ms'>> {
  const path = `${directory}/bench-fsync-${process.pid}`
  const file = await open(path, 'w')
  const times: number[] = []
  try {
    for (let n = 0; n < blocks; n++) {
      await file.write(Buffer.alloc(blockBytes, n))
      const startedAt = performance.now()
      await file.sync()
      times.push(performance.now() - startedAt)
    }
  } finally {
    await file.close()
    await rm(path)
  }
  times.sort((one, other) => one - other)
  return { fsyncP50Ms: quantile(times, 0.5), fsyncP99Ms: quantile(times, 0.99) }
}
