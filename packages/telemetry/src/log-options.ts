/**
 * How each process of ours logs: one JSON line a fact on its standard output, `name` being the process. Lines carry ids
 * (`requestId`, `eventId`, `executionId`) wherever there is one, and never what is in an event.
 *
 * @returns options of pino, which Fastify takes, too
 */
export function logOptions(name: string, level: string) {
  return {
    name,
    level,
    // The last line of defence: nothing of ours logs a secret, but what others throw may hold one.
    stream: { write: (line: string) => void process.stdout.write(hideSecrets(line)) },
  }
}

const hidden = '[hidden]'

/** Takes out what looks like a secret: passwords in URLs, tokens, our API keys and signing secrets. */
export function hideSecrets(line: string): string {
  return line
    .replace(/(\b[a-z]+:\/\/[^\s:/@"\\]*):[^\s@/"\\]+@/gi, `$1:${hidden}@`)
    .replace(/\b(Bearer|Basic) +[^\s"\\]{12,}/gi, `$1 ${hidden}`)
    .replace(/\b(?:ark_[0-9a-f-]{36}_|whsec_)[\w+/=-]+/g, hidden)
    .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, hidden)
}
