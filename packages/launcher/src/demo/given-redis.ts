import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectByTls } from 'node:tls'
import { CannotStart } from '../cannot-start.js'

const timeoutMs = 5_000

/**
 * Asks the Redis of REDIS_URL for a reply, because the processes of the demo would wait for it for a minute.
 *
 * @returns its host and port, for the user
 * @throws CannotStart if it is out of reach or refuses the password
 */
export async function reachRedis(url: string): Promise<string> {
  if (!URL.canParse(url) || !/^rediss?:$/.test(new URL(url).protocol))
    throw new CannotStart('REDIS_URL is not a URL like redis://host:6379')
  const { host } = new URL(url)
  // An error of several addresses has no message of its own.
  const reply = await askRedis(new URL(url)).catch(({ message, code }) => `-${message || code}`)
  const [fault] = reply.split('\r\n').filter((line) => line.startsWith('-') && !line.startsWith('-LOADING'))
  if (fault !== undefined || reply === '')
    throw new CannotStart(`REDIS_URL (${host}) cannot be used: ${fault?.slice(1) ?? 'it does not reply'}`)
  return host
}

async function askRedis({ protocol, hostname, port, username, password }: URL): Promise<string> {
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) }
  const socket = protocol === 'rediss:' ? connectByTls(target) : connect(target)
  const timer = setTimeout(() => socket.destroy(new Error('no reply')), timeoutMs)
  try {
    await once(socket, protocol === 'rediss:' ? 'secureConnect' : 'connect')
    const login = [username, password].filter((part) => part !== '').map(decodeURIComponent)
    if (password !== '') socket.write(encode('AUTH', ...login))
    socket.end(encode('PING') + encode('QUIT'))
    return await text(socket)
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

/** A command as an array of texts of known length, so that a password may have any characters. */
function encode(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`
}
