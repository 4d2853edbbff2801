import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { endGently } from './end-gently.js'

const refusals: Record<string, [status: number, code: string, reason: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'The request was not complete in time'],
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'The URL and the headers are too large'],
}
const invalid: (typeof refusals)[string] = [400, 'invalid_http', 'The request is not valid HTTP']

/** Responds to what Node's parser refuses, which reaches no route (Fastify's `clientErrorHandler`). */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // The caller is gone; or the refusal is sent already, and the parser complains again about the rest.
  if (error.code === 'ECONNRESET' || !socket.writable) return
  // The refusal would stand in the middle of the response under way.
  if (isResponding(socket)) return void socket.destroy()
  const [status, code, reason] = refusals[error.code ?? ''] ?? invalid
  const body = JSON.stringify({ error: reason })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
    `X-Error-Code: ${code}`,
  ]
  endGently(socket, `${head.join('\r\n')}\r\n\r\n${body}`)
}

/**
 * Whether a response has begun on this connection. Node keeps the response under way in a private field, and its own handler of such errors
 * reads the same field.
 */
function isResponding(socket: Socket): boolean {
  return (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage?.headersSent ?? false
}
