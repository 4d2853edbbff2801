import { randomBytes } from 'node:crypto'
import { closeSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { findRedisBinary } from '../binaries/redis-binary.js'
import { findServerUser } from '../binaries/server-user.js'
import { serverEnvironment } from '../environment.js'
import { makePrivateDirectory, readIfPresent, writePrivateFile } from '../private-file.js'
import { runProcess, waitUntilReady } from './running-process.js'
import { type Server, startOnPort } from './server.js'
import { makeHome } from './server-home.js'
import { lockServer } from './server-lock.js'

export interface RedisOptions {
  directory: string
  port?: number | undefined
  /** false: no data survives the end of the server. */
  persistent: boolean
  log?: string | undefined
  /** More lines of redis.conf, or others. The password is one of its own unless `requirepass` names it. */
  settings?: Record<string, string> | undefined
}

/**
 * Starts a private Redis, which serves nobody without its password. The server of a killed launcher has to end first.
 *
 * @throws CannotStart if there is no Redis and none can be installed, if another server works on the data, or if it does not start
 */
export async function startRedis({
  directory,
  port,
  persistent,
  log,
  settings: more = {},
}: RedisOptions): Promise<Server> {
  const command = await findRedisBinary()
  const user = await findServerUser()
  const home = await makeHome(directory, user, 'Redis')
  const data = `${home}/data`
  await makePrivateDirectory(data)
  if (user !== undefined) await chown(data, user.uid, user.gid)
  const password = more.requirepass ?? (await keepPassword(`${home}/password`))
  const lock = await lockServer(home, 'Redis')

  const starting = startOnPort(home, port, async (chosen) => {
    // The settings are in a file, since everybody can read the arguments of a process.
    const file = `${home}/redis.conf`
    await writePrivateFile(file, settings({ data, port: chosen, password, persistent, more }), user)
    const { running } = await runProcess({
      name: 'Redis',
      command,
      args: [file],
      cwd: home,
      env: serverEnvironment(),
      user,
      log: log ?? `${home}/redis.log`,
      lock,
    })
    await waitUntilReady(running, () => servesAs(running.pid, chosen, password))
    return { ...running, port: chosen, url: `redis://:${password}@127.0.0.1:${chosen}`, directory: home }
  })
  // From here on the server holds the lock.
  return starting.finally(() => closeSync(lock))
}

/** The password is the same at each start: APIs and workers reconnect with it. */
async function keepPassword(file: string): Promise<string> {
  const known = await readIfPresent(file)
  if (known !== undefined) return known
  const password = randomBytes(24).toString('base64url')
  await writePrivateFile(file, password)
  return password
}

function settings(options: {
  data: string
  port: number
  password: string
  persistent: boolean
  more: Record<string, string>
}): string {
  const { data, port, password, persistent, more } = options
  const values = {
    port: `${port}`,
    bind: '127.0.0.1',
    requirepass: password,
    dir: data,
    save: '',
    appendonly: persistent ? 'yes' : 'no',
    appendfsync: 'everysec',
    // BullMQ's keys must never be evicted.
    'maxmemory-policy': 'noeviction',
    ...more,
  }
  return Object.entries(values)
    .map(([name, value]) => `${name} "${value.replaceAll(/["\\]/g, '\\$&')}"\n`)
    .join('')
}

/**
 * Whether this very process serves the port: another Redis may hold it while ours is about to fail.
 * Also false while ours is still loading its file and responds with -LOADING.
 */
async function servesAs(pid: number, port: number, password: string): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(1_000, () => socket.destroy(new Error('no response')))
  socket.end(`AUTH ${password}\r\nPING\r\nINFO server\r\nQUIT\r\n`)
  const response = await text(socket).catch(() => '')
  return response.startsWith('+OK\r\n+PONG') && response.includes(`process_id:${pid}\r\n`)
}
