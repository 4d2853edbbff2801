import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import type { Connect } from './guarded-connector.js'

interface Request extends Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'> {
  /**
   * true: the receiver may get the call twice. Then the call may use an idle connection, and is made once more on a new one if the
   * idle one fails before a byte of the response. false: the call has a connection of its own, and is never made again.
   */
  mayRepeat: boolean
}

/** A client with at most one connection, for one call at a time. */
interface Connection {
  readonly origin: string
  readonly client: Client
  /** Ends the call that uses it now. */
  signal: AbortSignal
  /** The newest one: the client replaces a socket that closes before the call is sent. */
  socket: Socket | undefined
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
 * A server may close an idle connection at the moment of the next call. undici repeats no POST.
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
    { mayRepeat, ...request }: Request,
    signal: AbortSignal,
    readResponse: (response: Dispatcher.ResponseData) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted()
    const idle = mayRepeat ? this.#takeIdle(origin, signal) : undefined
    let connection = idle ?? this.#openConnection(origin, signal)
    const stop = () => this.#close(connection, signal.reason)
    signal.addEventListener('abort', stop)
    const isSilent = idle && watch(idle)
    const send = () => connection.client.request({ ...request, path: pathname + search, reset: !mayRepeat })
    let isReusable = false
    try {
      const response = await send().catch((error) => {
        // One that is not open any more was closed by the timeout, or at the end of this process.
        if (!isSilent?.() || !this.#open.has(connection)) throw error
        this.#close(connection)
        connection = this.#openConnection(origin, signal)
        return send()
      })
      // A reader gets the error from its reading; a body that was cut short has no reader.
      response.body.on('error', () => {})
      const result = await readResponse(response)
      isReusable = mayRepeat && response.body.readableEnded && connection.client.stats.connected
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
        connection.socket = undefined
        this.#connect(target, connection.signal).then(
          (socket) => {
            connection.socket = socket
            callback(null, socket)
          },
          (error) => callback(error, null),
        )
      },
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // The signal ends a call.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const connection: Connection = { origin, client, signal, socket: undefined }
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

/** @returns a function that tells whether nothing has come since over the socket, and no other one has replaced it */
function watch(connection: Connection): () => boolean {
  const { socket } = connection
  const bytesRead = socket?.bytesRead
  return () => connection.socket === socket && socket?.bytesRead === bytesRead
}
