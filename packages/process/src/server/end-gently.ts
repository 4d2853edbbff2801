import type { Socket } from 'node:net'

/** How long (ms) the rest of a refused request is read and thrown away. */
const lingerMs = 1_000

/**
 * Ends a connection whose caller may still be sending. Where a socket is closed with bytes that nobody has read, the system resets the
 * connection, and the caller may lose the response; so the rest is read for a moment.
 *
 * @param last what is sent before the end
 */
export function endGently(socket: Socket, last = ''): void {
  socket.end(last)
  setTimeout(() => socket.destroy(), lingerMs).unref()
}
