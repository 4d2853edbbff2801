import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { findRedisBinary } from '../binaries/redis-binary.js'
import { stopLeftOver } from './left-over.js'
import { runProcess, waitUntilReady } from './running-process.js'
import { readPort, type Server, startOnPort } from './server.js'

export interface RedisOptions {
  directory: string
  port?: number | undefined
  /** false: no data survives the end of the server. */
  persistent: boolean
  log?: string | undefined
}

/**
 * Starts a private Redis. If a killed launcher left a server running on this directory, that server is stopped first.
 *
 * @throws CannotStart if there is no Redis and none can be installed, or if it does not start
 */
export async function startRedis({ directory, port, persistent, log }: RedisOptions): Promise<Server> {
  const command = await findRedisBinary()
  await mkdir(directory, { recursive: true })
  const pidFile = `${directory}/redis.pid`
  const lastPort = await readPort(directory)
  // The process title is the only mark of a Redis server: "redis-server 127.0.0.1:6379".
  if (lastPort !== undefined) await stopLeftOver(pidFile, `-server 127.0.0.1:${lastPort}`, 'SIGTERM')

  return startOnPort(directory, port, async (chosen) => {
    const { running } = await runProcess({
      name: 'Redis',
      command,
      args: settings(directory, pidFile, chosen, persistent),
      cwd: directory,
      log: log ?? `${directory}/redis.log`,
    })
    await waitUntilReady(running, () => servesAs(running.pid, chosen))
    return { ...running, port: chosen, url: `redis://127.0.0.1:${chosen}`, directory }
  })
}

function settings(directory: string, pidFile: string, port: number, persistent: boolean): string[] {
  return Object.entries({
    port: `${port}`,
    bind: '127.0.0.1',
    dir: directory,
    pidfile: pidFile,
    save: '',
    appendonly: persistent ? 'yes' : 'no',
    appendfsync: 'everysec',
    // BullMQ's keys must never be evicted.
    'maxmemory-policy': 'noeviction',
  }).flatMap(([name, value]) => [`--${name}`, value])
}

/**
 * Whether this very process serves the port: another Redis may hold it while ours is about to fail.
 * Also false while ours is still loading its file and responds with -LOADING.
 */
async function servesAs(pid: number, port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(1_000, () => socket.destroy(new Error('no response')))
  socket.end('PING\r\nINFO server\r\nQUIT\r\n')
  const response = await text(socket).catch(() => '')
  return response.startsWith('+PONG') && response.includes(`process_id:${pid}\r\n`)
}
