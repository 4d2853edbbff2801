import { statfs } from 'node:fs/promises'
import { CannotStart } from '@automation/launcher'
import { formatNumber } from '../table.js'

/** Of an event with its execution and task, and all of their indexes: a quarter more than was measured. */
const bytesAnEvent = 1_500
/** The write-ahead log, what the loads of all rounds add, and what the system needs to go on. */
const otherBytes = 5e9

/** What a run needs (bytes), beside what is stored already. */
export function bytesNeeded(events: number): number {
  return events * bytesAnEvent + otherBytes
}

/** @throws CannotStart if the file system has less */
export async function requireSpace(directory: string, bytes: number): Promise<{ freeBytes: number }> {
  const { bavail, bsize } = await statfs(directory)
  const freeBytes = bavail * bsize
  if (freeBytes >= bytes) return { freeBytes }
  throw new CannotStart(
    `${directory} has ${gigabytes(freeBytes)} free, and ${gigabytes(bytes)} are needed. Set TMPDIR to a larger disk, or store fewer events by --stored`,
  )
}

export function gigabytes(bytes: number): string {
  return `${formatNumber(bytes / 1e9)} GB`
}
