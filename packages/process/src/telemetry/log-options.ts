import { hideSecrets } from './hide-secrets.js'

/**
 * The log settings of every process: one JSON line per fact on standard output, where `name` is the process. Lines carry
 * ids (`requestId`, `eventId`, `executionId`) wherever there are any, and never the data of an event.
 *
 * @returns options for pino and Fastify
 */
export function logOptions(name: string, level: string) {
  return {
    name,
    level,
    // The last line of defence: our code logs no secret, but an error of a library may contain one.
    stream: { write: (line: string) => void process.stdout.write(hideSecrets(line)) },
  }
}
