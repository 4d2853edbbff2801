import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { CannotStart } from '../cannot-start.js'
import { writePrivateFile } from '../private-file.js'
import { findFreePort, isPortFree } from './ports.js'
import type { RunningProcess } from './running-process.js'

/** A private Postgres or Redis on 127.0.0.1. */
export interface Server extends RunningProcess {
  url: string
  port: number
  /** The directory of its data, which may differ from the one asked for: see `server-home.ts`. */
  directory: string
}

const attempts = 20
// Another program took the port first.
const passingFault = /address already in use/i

/**
 * Starts a server on the given port. Without one it uses the port of its last run if that is free, otherwise any free port.
 *
 * @param directory its file `port` stores the port for the next run
 */
export async function startOnPort<Started>(
  directory: string,
  givenPort: number | undefined,
  start: (port: number) => Promise<Started>,
): Promise<Started> {
  for (let attempt = 1; ; attempt++) {
    const port = givenPort ?? (await choosePort(directory))
    try {
      await writePrivateFile(`${directory}/port`, `${port}\n`)
      return await start(port)
    } catch (error) {
      const mayPass = error instanceof CannotStart && passingFault.test(error.message)
      if (!mayPass || attempt === attempts) throw error
    }
    await delay(100)
  }
}

async function choosePort(directory: string): Promise<number> {
  const last = Number(await readFile(`${directory}/port`, 'utf8').catch(() => ''))
  return last > 0 && (await isPortFree(last)) ? last : findFreePort()
}
