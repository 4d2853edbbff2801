import { Client, type Dispatcher } from 'undici'
import type { Connect } from './guarded-connector.js'

type Options = Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'signal'>

/** A client with at most one connection, for one call at a time. */
interface Connection {
  readonly origin: string
  readonly client: Client
  /** Ends the call that uses it now. */
  signal: AbortSignal
}

/** Shorter than the default of most servers, so that a call seldom meets a connection that is just being closed. */
const keepAliveMs = 4_000
const maxIdle = 200

/**
 * Makes HTTP calls over connections of its own. It follows no redirect and uses no proxy.
 *
 *   connecting ──▶ calling ──body read to its end──▶ idle ──call to the same origin──▶ calling
 *       └─────────────┴── fault, timeout, body cut short ──▶ closed ◀── 4 s ──┘
 *
 * undici's own pool continues to connect for a call that was cancelled, and makes it wait for the connections of others.
 */
export class GuardedAgent {
  readonly #connect: Connect
  readonly #open = new Set<Connection>()
  /** By origin. */
  readonly #idle = new Map<string, Connection[]>()
  #idleCount = 0

  constructor(connect: Connect) {
    this.#connect = connect
  }

  /**
   * @param signal ends the call in any phase: resolving, connecting, waiting or reading
   * @param readResponse the connection is used again if this reads the body to its end
   * @throws what the connector, the network or the signal ended the call with, by its promise
   */
  async call<Result>(
    { origin, pathname, search }: URL,
    options: Options,
    signal: AbortSignal,
    readResponse: (response: Dispatcher.ResponseData) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted()
    const connection = this.#takeIdle(origin, signal) ?? this.#openConnection(origin, signal)
    const stop = () => this.#close(connection, signal.reason)
    signal.addEventListener('abort', stop)
    let isReusable = false
    try {
      const response = await connection.client.request({ ...options, path: pathname + search })
      // A reader gets the error from its reading; a body that was cut short has no reader.
      response.body.on('error', () => {})
      const result = await readResponse(response)
      isReusable = response.body.readableEnded && connection.client.stats.connected
      return result
    } finally {
      signal.removeEventListener('abort', stop)
      if (isReusable && this.#idleCount < maxIdle) this.#putIdle(connection)
      else this.#close(connection)
    }
  }

  close(): void {
    for (const connection of this.#open) this.#close(connection)
  }

  #openConnection(origin: string, signal: AbortSignal): Connection {
    const client = new Client(origin, {
      connect: (target, callback) => {
        this.#connect(target, connection.signal).then(
          (socket) => callback(null, socket),
          (error) => callback(error, null),
        )
      },
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // The signal ends a call.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const connection: Connection = { origin, client, signal }
    this.#open.add(connection)
    // Not during a call: the client sends what was not sent yet over a new connection.
    client.on('disconnect', () => {
      if (this.#removeIdle(connection)) this.#close(connection)
    })
    return connection
  }

  #close(connection: Connection, reason?: Error): void {
    this.#open.delete(connection)
    this.#removeIdle(connection)
    void connection.client.destroy(reason ?? null)
  }

  #takeIdle(origin: string, signal: AbortSignal): Connection | undefined {
    const connection = this.#idle.get(origin)?.at(-1)
    if (connection === undefined) return undefined
    this.#removeIdle(connection)
    connection.signal = signal
    return connection
  }

  #putIdle(connection: Connection): void {
    const others = this.#idle.get(connection.origin)
    if (others) others.push(connection)
    else this.#idle.set(connection.origin, [connection])
    this.#idleCount += 1
  }

  #removeIdle(connection: Connection): boolean {
    const others = this.#idle.get(connection.origin) ?? []
    const index = others.indexOf(connection)
    if (index === -1) return false
    others.splice(index, 1)
    if (others.length === 0) this.#idle.delete(connection.origin)
    this.#idleCount -= 1
    return true
  }
}
