import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { endGently } from './end-gently.js'

/** Whether bytes of the body are still on their way. Of an injected request, nobody knows: no. */
export function isRequestUnfinished({ complete, headers }: IncomingMessage): boolean {
  return (
    complete === false &&
    (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
  )
}

/**
 * Closes the connection of a request whose response comes before the end of its body. Node would close it at once, and so reset it, or
 * read the rest for as long as the caller likes.
 */
export const earlyResponses = fp(
  async (app) => {
    app.addHook('onSend', (request, reply, _payload, done) => {
      if (isRequestUnfinished(request.raw)) {
        reply.header('connection', 'close')
        endGentlyAfterResponse(request.raw.socket)
      }
      done()
    })
  },
  { name: 'early-responses' },
)

/** Node calls `destroySoon` when the last response of a connection is written. */
function endGentlyAfterResponse(socket: Socket): void {
  socket.destroySoon = () => {
    endGently(socket)
    // No parser reads on: a further request on this connection would be executed, and its response lost.
    socket.removeAllListeners('data')
    socket.on('data', () => {})
  }
}
