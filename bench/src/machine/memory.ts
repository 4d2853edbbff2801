import { readFile } from 'node:fs/promises'

/** Resident memory of a process in MiB; 0 if it has ended, or if the system does not report it. */
export async function readMebibytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024
}
