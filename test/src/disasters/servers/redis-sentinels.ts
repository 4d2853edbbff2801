import { mkdir, writeFile } from 'node:fs/promises'
import {
  findFreePort,
  findServerUser,
  type RunningProcess,
  runProcess,
  type Server,
  startRedis,
} from '@automation/launcher'
import { Redis } from 'ioredis'
import type { Stage } from '../disaster.js'
import { giveToServers } from './server-process.js'

const group = 'main'
/** A primary that is silent for so long (ms) is down. */
const downAfterMs = 3_000
const count = 3

/**
 * A primary of Redis, its replica, and three Sentinels that promote the replica.
 *
 *   redis+sentinel://…/main ──▶ Sentinels ──▶ first (primary) ┄┄▶ second (replica)
 */
export class RedisSentinels {
  readonly #stage: Stage
  readonly #sentinels: (RunningProcess & { port: number })[]
  readonly #password: string
  readonly second: Server
  #first: Server

  private constructor(
    stage: Stage,
    servers: { first: Server; second: Server },
    sentinels: (RunningProcess & { port: number })[],
  ) {
    this.#stage = stage
    this.#first = servers.first
    this.second = servers.second
    this.#sentinels = sentinels
    this.#password = passwordOf(servers.first)
  }

  static async open(stage: Stage): Promise<RedisSentinels> {
    const first = await startMember(stage, 'first')
    const second = await startMember(stage, 'second')
    const password = passwordOf(first)
    await ask(first.url, (redis) => redis.config('SET', 'masterauth', password))
    await ask(second.url, (redis) => redis.config('SET', 'masterauth', password))
    await ask(second.url, (redis) => redis.config('SET', 'requirepass', password))
    const replica = { ...second, url: withPassword(second.url, password) }
    await ask(replica.url, (redis) => redis.replicaof('127.0.0.1', first.port))
    await waitFor(() => hasLine(replica.url, 'master_link_status:up'))
    const sentinels = []
    while (sentinels.length < count)
      sentinels.push(await startSentinel(stage, `sentinel-${sentinels.length}`, first))
    const opened = new RedisSentinels(stage, { first, second: replica }, sentinels)
    // Until they know each other, they promote nobody.
    await waitFor(async () => (await opened.#readGroup('num-other-sentinels')) === String(count - 1))
    await waitFor(async () => (await opened.#readGroup('num-slaves')) === '1')
    return opened
  }

  /** What the processes are given. */
  get url(): string {
    const hosts = this.#sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
    return `redis+sentinel://:${this.#password}@${hosts}/${group}`
  }

  get first(): Server {
    return this.#first
  }

  get directories(): string[] {
    return [this.#first.directory, this.second.directory]
  }

  async killPrimary(): Promise<void> {
    this.#first.kill('SIGKILL')
    await this.#first.exited
  }

  async isPromoted(): Promise<boolean> {
    return hasLine(this.second.url, 'role:master')
  }

  /** The Sentinels make the old primary a replica of the new one. */
  async startOld(): Promise<void> {
    this.#first = await startMember(this.#stage, 'first', this.#first.port)
    await ask(this.#first.url, (redis) => redis.config('SET', 'masterauth', this.#password))
    await waitFor(() => hasLine(this.#first.url, 'master_link_status:up'))
  }

  async stop(): Promise<void> {
    for (const server of [...this.#sentinels, this.#first, this.second]) await server.stop()
  }

  async #readGroup(field: string): Promise<string | undefined> {
    const answers = await Promise.all(
      this.#sentinels.map(({ port }) =>
        ask(`redis://127.0.0.1:${port}`, async (redis) => {
          const fields = (await redis.call('SENTINEL', 'MASTER', group)) as string[] | Record<string, string>
          return Array.isArray(fields) ? fields[fields.indexOf(field) + 1] : fields[field]
        }),
      ),
    )
    return new Set(answers).size === 1 ? answers[0] : undefined
  }
}

function startMember({ directory }: Stage, name: string, port?: number): Promise<Server> {
  const home = `${directory}/redis-${name}`
  return startRedis({ directory: home, port, persistent: true, log: `${directory}/redis-${name}.log` })
}

async function startSentinel({ directory, programs }: Stage, name: string, primary: Server) {
  const home = `${directory}/${name}`
  await mkdir(home)
  const port = await findFreePort()
  const file = `${home}/sentinel.conf`
  const settings = `port ${port}
bind 127.0.0.1
protected-mode no
dir ${home}
sentinel monitor ${group} 127.0.0.1 ${primary.port} 2
sentinel auth-pass ${group} ${passwordOf(primary)}
sentinel down-after-milliseconds ${group} ${downAfterMs}
sentinel failover-timeout ${group} 20000
`
  await writeFile(file, settings, { mode: 0o600 })
  await giveToServers(home)
  await giveToServers(file)
  const { running } = await runProcess({
    name: 'Sentinel',
    command: programs.redisServer,
    args: [file, '--sentinel'],
    log: `${home}/sentinel.log`,
    cwd: home,
    user: await findServerUser(),
  })
  return { ...running, port }
}

function passwordOf({ url }: Server): string {
  return new URL(url).password
}

function withPassword(serverUrl: string, password: string): string {
  const url = new URL(serverUrl)
  url.password = password
  return url.href
}

async function hasLine(url: string, line: string): Promise<boolean> {
  return (await ask(url, (redis) => redis.info('replication'))).includes(line)
}

async function ask<Answer>(url: string, question: (redis: Redis) => Promise<Answer>): Promise<Answer> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    return await question(redis)
  } finally {
    redis.disconnect()
  }
}

async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 100))
}
