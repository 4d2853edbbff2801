import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/** Lower than that of all other threads: on busy cores, triggers come first. */
const niceness = 5

/** Lowers the priority of the thread that calls it. Only Linux has one for each thread; elsewhere it stays as it is. */
export function lowerPriority(): void {
  try {
    // "<process>/task/<thread>"
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), Math.min(getPriority() + niceness, 19))
  } catch {
    // Elsewhere a priority is the process's.
  }
}
