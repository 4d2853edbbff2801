import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { stopLeftOver } from './left-over.js'
import { findRedisBinary } from './redis-binary.js'
import { runProcess, waitUntilReady } from './running-process.js'
import { readPort, type Server, startOnPort } from './server.js'

export interface RedisOptions {
  directory: string
  port?: number | undefined
  /** false: nothing survives its end. */
  persistent: boolean
  log?: string | undefined
}

/**
 * Starts a private Redis. One that a killed launcher left running on this directory is stopped first.
 *
 * @throws CannotStart when there is none and none can be installed, or it does not come up
 */
export async function startRedis({ directory, port, persistent, log }: RedisOptions): Promise<Server> {
  const command = await findRedisBinary()
  await mkdir(directory, { recursive: true })
  const pidFile = `${directory}/redis.pid`
  const lastPort = await readPort(directory)
  // The name of its process is all that a server tells about itself: "redis-server 127.0.0.1:6379".
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
    // BullMQ's keys must never be thrown out to make room.
    'maxmemory-policy': 'noeviction',
  }).flatMap(([name, value]) => [`--${name}`, value])
}

/**
 * Whether it is this very process that answers: another Redis may sit on the port, and ours be about to give up.
 * False also while ours is still reading its file: then it answers -LOADING.
 */
async function servesAs(pid: number, port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(1_000, () => socket.destroy(new Error('no answer')))
  socket.end('PING\r\nINFO server\r\nQUIT\r\n')
  const answers = await text(socket).catch(() => '')
  return answers.startsWith('+PONG') && answers.includes(`process_id:${pid}\r\n`)
}
