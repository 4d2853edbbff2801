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

const hidden = '[hidden]'

/** Replaces everything that looks like a secret: passwords in URLs, tokens, API keys and signing secrets. */
export function hideSecrets(line: string): string {
  return line
    .replace(/(\b[a-z]+:\/\/[^\s:/@"\\]*):[^\s@/"\\]+@/gi, `$1:${hidden}@`)
    .replace(/\b(Bearer|Basic) +[^\s"\\]{12,}/gi, `$1 ${hidden}`)
    .replace(/\b(?:ark_[0-9a-f-]{36}_|whsec_)[\w+/=-]+/g, hidden)
    .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, hidden)
}
