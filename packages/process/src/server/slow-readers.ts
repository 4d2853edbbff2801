import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { type PaceLimits, paceLimits, ReadingPace } from './reading-pace.js'

const lookEveryMs = 5_000

interface Options {
  limits?: PaceLimits
  everyMs?: number
  /** Called for each connection that is closed. */
  noteClosed?: () => void
}

/**
 * Closes connections whose caller does not read the response, or hardly, which Node keeps for ever with all that is left to send.
 *
 *   quiet ──bytes wait to be sent──▶ watched ──all sent──▶ quiet
 *                                       ├── 30 s without a byte sent ──▶ closed
 *                                       └── a minute with less than 4 KiB a second ──▶ closed
 *
 * A socket that waits for its response, or for the next request, has nothing to send, and keeps the timeouts that it has. A timeout
 * of the whole server would have to be longer than the longest wait for an outcome.
 */
export const slowReaders = fp<Options>(
  async (app, { limits = paceLimits, everyMs = lookEveryMs, noteClosed }) => {
    const sockets = new Set<Socket>()
    let watched = new WeakMap<Socket, ReadingPace>()
    let lookedAt = performance.now()
    app.server.on('connection', (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    const look = () => {
      const now = performance.now()
      // This process stood still, and no caller could take a byte.
      if (now - lookedAt > 2 * everyMs) watched = new WeakMap()
      lookedAt = now
      for (const socket of sockets) {
        const sent = countSent(socket)
        if (socket.writableLength === 0 || sent === undefined) watched.delete(socket)
        else {
          const pace = watched.get(socket) ?? new ReadingPace(limits, now, sent)
          watched.set(socket, pace)
          if (!pace.isTooSlow(now, sent)) continue
          socket.destroy()
          noteClosed?.()
        }
      }
    }
    const timer = setInterval(look, everyMs).unref()
    app.addHook('onClose', async () => clearInterval(timer))
  },
  { name: 'slow-readers' },
)

/**
 * The bytes that the kernel has taken. A response may be one chunk of megabytes: what the socket itself shows does not change before all of it
 * is sent, so this reads Node's handle, as Node's own timeout does.
 *
 * @returns undefined for a closed socket
 */
function countSent(socket: Socket): number | undefined {
  const { _handle: handle } = socket as unknown as {
    _handle?: { bytesWritten: number; writeQueueSize: number } | null
  }
  return handle ? handle.bytesWritten - handle.writeQueueSize : undefined
}
