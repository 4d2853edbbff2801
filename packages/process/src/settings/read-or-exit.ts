import { EnvironmentError } from './read-environment.js'
import { spareLoopback } from './spare-loopback.js'

/** Reads the configuration at the start of a process. If it is invalid, prints the faults and exits with code 1. */
export function readOrExit<Config>(readConfig: () => Config): Config {
  spareLoopback()
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
