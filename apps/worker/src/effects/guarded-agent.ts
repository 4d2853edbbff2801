import { Client, type Dispatcher } from 'undici'
import type { Connect } from './guarded-connector.js'

type Options = Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'signal'>

/** One connection at most, for one call at a time. */
interface Line {
  readonly origin: string
  readonly client: Client
  /** Ends the call that has it now. */
  signal: AbortSignal
}

/** Shorter than servers keep theirs by default, so that a call seldom meets a connection that is just being closed. */
const keepAliveMs = 4_000
const maxIdleLines = 200

/**
 * Makes HTTP calls over connections of its own making. No redirect is followed and no proxy is asked.
 *
 *   connecting ──▶ calling ──answer read to its end──▶ idle ──call to the same origin──▶ calling
 *       └─────────────┴── fault, time is up, answer cut short ──▶ closed ◀── 4 s ──┘
 *
 * undici's own pool keeps connecting for a call that was given up, and would have it wait for others' connections.
 */
export function createGuardedAgent(connect: Connect) {
  const lines = new Set<Line>()
  const idle = new Map<string, Line[]>()
  let idleCount = 0

  return {
    /**
     * @param signal ends the call, whatever it is at: resolving, connecting, waiting or reading
     * @param readAnswer the line is used again where this has read the body to its end
     * @throws what the connector, the network or the signal ended it with, by its promise
     */
    async call<Result>(
      { origin, pathname, search }: URL,
      options: Options,
      signal: AbortSignal,
      readAnswer: (answer: Dispatcher.ResponseData) => Promise<Result>,
    ): Promise<Result> {
      signal.throwIfAborted()
      const line = takeIdle(origin, signal) ?? openLine(origin, signal)
      const stop = () => close(line, signal.reason)
      signal.addEventListener('abort', stop)
      let isReusable = false
      try {
        const answer = await line.client.request({ ...options, path: pathname + search })
        // Whoever reads it is told by its reading; an answer that was cut short has nobody to tell.
        answer.body.on('error', () => {})
        const result = await readAnswer(answer)
        isReusable = answer.body.readableEnded && line.client.stats.connected
        return result
      } finally {
        signal.removeEventListener('abort', stop)
        if (isReusable && idleCount < maxIdleLines) putIdle(line)
        else close(line)
      }
    },
    close(): void {
      for (const line of lines) close(line)
    },
  }

  function openLine(origin: string, signal: AbortSignal): Line {
    const client = new Client(origin, {
      connect: (target, callback) => {
        connect(target, line.signal).then(
          (socket) => callback(null, socket),
          (error) => callback(error, null),
        )
      },
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // The signal is what ends a call.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const line: Line = { origin, client, signal }
    lines.add(line)
    // Not under a call: what was not sent yet, the client sends over a new connection.
    client.on('disconnect', () => {
      if (removeIdle(line)) close(line)
    })
    return line
  }

  function close(line: Line, reason?: Error): void {
    lines.delete(line)
    removeIdle(line)
    void line.client.destroy(reason ?? null)
  }

  function takeIdle(origin: string, signal: AbortSignal): Line | undefined {
    const line = idle.get(origin)?.at(-1)
    if (line === undefined) return undefined
    removeIdle(line)
    line.signal = signal
    return line
  }

  function putIdle(line: Line): void {
    const others = idle.get(line.origin)
    if (others) others.push(line)
    else idle.set(line.origin, [line])
    idleCount += 1
  }

  function removeIdle(line: Line): boolean {
    const others = idle.get(line.origin) ?? []
    const index = others.indexOf(line)
    if (index === -1) return false
    others.splice(index, 1)
    if (others.length === 0) idle.delete(line.origin)
    idleCount -= 1
    return true
  }
}
