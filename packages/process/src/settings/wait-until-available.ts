import { setTimeout } from 'node:timers/promises'

/** A server or another precondition that a process needs before it can work. */
export interface Dependency {
  name: string
  /**
   * What is wrong with it, as in `Redis is away`, or undefined if it is available.
   *
   * @throws Error that says what no wait mends
   */
  findFault(): Promise<string | undefined>
}

export interface AvailabilityOptions {
  timeoutSeconds: number
  log: { warn(message: string): void; info(message: string): void; fatal(message: string): void }
}

/** Servers and the migration are started beside a process. What takes longer is a fault that its supervisor should see: it starts it again. */
const timeoutSeconds = 60
const pauseMs = 250
const repeatMs = 10_000
/** A dependency that takes longer does not respond: it is logged, and looked at further on. */
const responseMs = 1_000

/**
 * Processes may be started in any order: each waits until its dependencies are available. It logs what is missing at
 * once, on every change, and every ten seconds. After the timeout, or at once where no wait helps, the process exits with
 * code 1, and its supervisor decides what to do next.
 */
export async function waitOrExit(dependencies: Dependency[], log: AvailabilityOptions['log']): Promise<void> {
  try {
    const missing = await waitUntilAvailable(dependencies, { timeoutSeconds, log })
    if (missing === undefined) return
    log.fatal(`timed out after ${timeoutSeconds} s: ${missing}`)
  } catch (error) {
    log.fatal((error as Error).message)
  }
  process.exit(1)
}

/** @returns what is still missing after the timeout, or undefined if all dependencies are available */
export async function waitUntilAvailable(
  dependencies: Dependency[],
  { timeoutSeconds, log }: AvailabilityOptions,
): Promise<string | undefined> {
  const deadline = performance.now() + timeoutSeconds * 1_000
  const checks = dependencies.map(startChecks)
  let logged = ''
  let loggedAt = 0
  for (;;) {
    const timeoutMs = Math.max(pauseMs, Math.min(responseMs, deadline - performance.now()))
    const faults = await Promise.all(checks.map((check) => check(timeoutMs)))
    const missing = faults.filter((fault) => fault !== undefined).join('; ')
    if (missing === '') {
      if (logged !== '') log.info('all dependencies are available')
      return undefined
    }
    const now = performance.now()
    if (now >= deadline) return missing
    if (missing !== logged || now >= loggedAt + repeatMs) {
      log.warn(`waiting: ${missing}`)
      logged = missing
      loggedAt = now
    }
    await setTimeout(pauseMs)
  }
}

/**
 * Returns a function that checks one dependency. A server that accepts the connection and never responds must delay neither the log nor
 * the timeout: its check stays under way, and no other is begun beside it.
 */
function startChecks({ name, findFault }: Dependency): (timeoutMs: number) => Promise<string | undefined> {
  const late = Symbol('late')
  let underWay: Promise<string | undefined> | undefined
  let known: string | undefined
  return async (timeoutMs) => {
    underWay ??= findFault()
    const timer = new AbortController()
    const timeout = setTimeout<typeof late>(timeoutMs, late, { signal: timer.signal })
    const fault = await Promise.race([underWay, timeout])
    // While a check hangs, what the one before found is the best that is known.
    if (fault === late) return known ?? `${name} does not respond`
    timer.abort()
    timeout.catch(() => {})
    underWay = undefined
    known = fault
    return fault
  }
}
