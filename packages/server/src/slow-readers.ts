import type { Socket } from 'node:net'
import fp from 'fastify-plugin'

const lookEveryMs = 5_000
/** How long (ms) a caller may take not a single byte of a response. */
export const stallMs = 15_000

/**
 * Closes connections whose caller does not read the response, which Node keeps for ever with all that is left to send.
 *
 *   quiet ──bytes wait to be sent──▶ watched ──all sent──▶ quiet
 *                                       └── 15 s without a byte sent ──▶ closed
 *
 * A socket that waits for its response, or for the next request, has nothing to send, and keeps the timeouts that it has. A timeout
 * of the whole server would have to be longer than the longest wait for an outcome. Node's own timer of the socket notices sent bytes,
 * and may check twice: such a connection is closed after 15 to 35 s.
 */
export const slowReaders = fp(
  async (app) => {
    const sockets = new Set<Socket>()
    app.server.on('connection', (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    const timer = setInterval(() => sockets.forEach(watch), lookEveryMs).unref()
    app.addHook('onClose', async () => clearInterval(timer))
  },
  { name: 'slow-readers' },
)

/** At the end of a response Node replaces the timeout by its own, but not where requests were pipelined. */
function watch(socket: Socket): void {
  const isWatched = socket.timeout === stallMs
  const isUnsent = socket.writableLength > 0
  if (isUnsent !== isWatched) socket.setTimeout(isUnsent ? stallMs : 0)
}
