import { once } from 'node:events'
import { connect } from 'node:net'

/** Sends one command, written inline, and answers the first packet of the reply. */
export async function askRedis(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${command}\r\n`)
  const [reply] = await once(socket, 'data')
  socket.destroy()
  return String(reply)
}
