import { setTimeout } from 'node:timers/promises'

/** Something that a process stands on. */
export interface Foundation {
  name: string
  /** What is wrong with it, as in `Redis is away`; undefined where it is there. */
  findFault(): Promise<string | undefined>
}

export interface Waiting {
  /** For longer (seconds) is not waited. */
  withinSeconds: number
  log: { warn(message: string): void; info(message: string): void; fatal(message: string): void }
}

const pauseMs = 250
const repeatMs = 10_000

/**
 * Processes may be started in any order: each waits for what it stands on. What is missing is told at once, when it
 * changes, and every ten seconds; after its time the process ends, and its supervisor decides what then.
 */
export async function waitOrExit(foundations: Foundation[], waiting: Waiting): Promise<void> {
  const missing = await waitUntilThere(foundations, waiting)
  if (missing === undefined) return
  waiting.log.fatal(`gave up after ${waiting.withinSeconds} s: ${missing}`)
  process.exit(1)
}

/** @returns what is still missing when the time is up; undefined when all is there */
export async function waitUntilThere(
  foundations: Foundation[],
  { withinSeconds, log }: Waiting,
): Promise<string | undefined> {
  const giveUpAt = performance.now() + withinSeconds * 1_000
  // One that lets us in and then says nothing must not hold this for longer.
  const timeIsUp = setTimeout(withinSeconds * 1_000, undefined, { ref: false })
  const faults = foundations.map(({ name }): string | undefined => `${name} does not answer`)
  let told = ''
  let toldAt = 0
  for (;;) {
    await Promise.race([Promise.all(foundations.map(look)), timeIsUp])
    const missing = faults.filter((fault) => fault !== undefined).join('; ')
    if (missing === '') {
      if (told !== '') log.info('what was waited for is there')
      return undefined
    }
    const now = performance.now()
    if (now >= giveUpAt) return missing
    if (missing !== told || now >= toldAt + repeatMs) {
      log.warn(`waiting: ${missing}`)
      told = missing
      toldAt = now
    }
    await setTimeout(pauseMs)
  }

  async function look({ findFault }: Foundation, index: number): Promise<void> {
    faults[index] = await findFault()
  }
}
