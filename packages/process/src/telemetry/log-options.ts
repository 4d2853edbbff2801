import { hideSecrets } from './hide-secrets.js'
import { LogWriter } from './log-writer.js'

/** One for each descriptor: two would write into each other's half lines. */
const writers = new Map<number, LogWriter>()

/**
 * The log settings of every process: one JSON line per fact on standard output, where `name` is the process. Lines carry
 * ids (`requestId`, `eventId`, `executionId`) wherever there are any, and never the data of an event.
 *
 * @param fd another descriptor in tests
 * @returns options for pino and Fastify
 */
export function logOptions(name: string, level: string, fd = 1) {
  const writer = writers.get(fd) ?? new LogWriter(name, fd)
  writers.set(fd, writer)
  return {
    name,
    level,
    // The last line of defence: our code logs no secret, but an error of a library may contain one.
    stream: { write: (line: string) => writer.write(hideSecrets(line)) },
  }
}
