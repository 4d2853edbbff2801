import { randomBytes } from 'node:crypto'
import { findFreePort, type Server, startRedis } from '@automation/launcher'
import { Redis } from 'ioredis'
import { until } from '../../fixtures/product.js'

/** A node that is silent for so long (ms) is down. */
const nodeTimeoutMs = 3_000
const primaries = 3
const slots = 16_384
const keysAtATime = 100

interface Member {
  server: Server
  home: string
  busPort: number
  /** Outlives the server. */
  admin: Redis
  id: string
}

/**
 * A Redis Cluster of three primaries with a replica each. One of the primaries serves the slot of the queue.
 *
 *   redis+cluster://…,… ──▶ any node ──MOVED──▶ the primary of the slot ┄┄▶ its replica
 */
export class RedisCluster {
  readonly #password = randomBytes(24).toString('base64url')
  readonly #members: Member[] = []
  readonly #directory: string
  readonly #key: string

  private constructor(directory: string, key: string) {
    this.#directory = directory
    this.#key = key
  }

  /** @param key of the slot that things happen to */
  static async open(directory: string, key = '{automation}'): Promise<RedisCluster> {
    const cluster = new RedisCluster(directory, key)
    while (cluster.#members.length < 2 * primaries) await cluster.#add()
    await cluster.#join()
    return cluster
  }

  /** What the processes are given. */
  get url(): string {
    const hosts = this.#members.map(({ server }) => `127.0.0.1:${server.port}`).join(',')
    return `redis+cluster://:${this.#password}@${hosts}`
  }

  get directories(): string[] {
    return this.#members.map(({ server }) => server.directory)
  }

  /** Of the primary that serves the slot, as the first node says that responds. */
  async findPrimary(): Promise<Server> {
    return (await this.#findMember()).server
  }

  async killPrimary(): Promise<Server> {
    const { server } = await this.#findMember()
    server.kill('SIGKILL')
    await server.exited
    return server
  }

  async startAgain(killed: Server): Promise<void> {
    const member = this.#members.find(({ server }) => server === killed)
    if (member === undefined) throw new Error('no such node')
    member.server = await this.#start(member.home, member.busPort, killed.port)
    await until(async () => (await read(member.admin, 'replication')).includes('master_link_status:up'))
  }

  /** Moves the slot to another primary. @returns how many keys it had */
  async moveSlot(): Promise<number> {
    const move = await this.beginMove()
    return move()
  }

  /** Tells both primaries that the slot moves. @returns what moves its keys, one after the other, and ends the move */
  async beginMove(): Promise<() => Promise<number>> {
    const from = await this.#findMember()
    const slot = await from.admin.cluster('KEYSLOT', this.#key)
    const roles = await Promise.all(this.#members.map(({ admin }) => read(admin, 'replication')))
    const to = this.#members.find((member, index) => member !== from && roles[index]?.includes('role:master'))
    if (to === undefined) throw new Error('no other primary')
    await to.admin.cluster('SETSLOT', slot, 'IMPORTING', from.id)
    await from.admin.cluster('SETSLOT', slot, 'MIGRATING', to.id)
    return async () => {
      let moved = 0
      for (;;) {
        const keys = (await from.admin.cluster('GETKEYSINSLOT', slot, keysAtATime)) as unknown as string[]
        if (keys.length === 0) break
        const target = [
          '127.0.0.1',
          to.server.port,
          '',
          0,
          10_000,
          'REPLACE',
          'AUTH',
          this.#password,
        ] as const
        await from.admin.call('MIGRATE', ...target, 'KEYS', ...keys)
        moved += keys.length
      }
      await to.admin.cluster('SETSLOT', slot, 'NODE', to.id)
      await from.admin.cluster('SETSLOT', slot, 'NODE', to.id)
      return moved
    }
  }

  async stop(): Promise<void> {
    for (const { admin, server } of this.#members) {
      admin.disconnect()
      await server.stop()
    }
  }

  async #findMember(): Promise<Member> {
    for (const { admin } of this.#members) {
      const refusal = await admin.exists(`${this.#key}:nothing`).then(
        () => `:${admin.options.port}`,
        ({ message }: Error) => message,
      )
      const member = this.#members.find(({ server }) => refusal.endsWith(`:${server.port}`))
      if (member !== undefined) return member
    }
    throw new Error('no node serves the slot')
  }

  async #add(): Promise<void> {
    const home = `${this.#directory}/node-${this.#members.length}`
    const busPort = await findFreePort()
    const server = await this.#start(home, busPort)
    const admin = new Redis(server.url, { enableOfflineQueue: true, maxRetriesPerRequest: 1 })
    admin.on('error', () => {})
    const id = String(await admin.cluster('MYID'))
    this.#members.push({ server, home, busPort, admin, id })
  }

  #start(home: string, busPort: number, port?: number): Promise<Server> {
    const settings = {
      requirepass: this.#password,
      masterauth: this.#password,
      'cluster-enabled': 'yes',
      'cluster-port': `${busPort}`,
      'cluster-node-timeout': `${nodeTimeoutMs}`,
    }
    return startRedis({ directory: home, port, persistent: true, log: `${home}.log`, settings })
  }

  async #join(): Promise<void> {
    const [first] = this.#members
    for (const [index, { admin, server, busPort }] of this.#members.entries()) {
      await admin.cluster('SET-CONFIG-EPOCH', index + 1)
      if (index > 0)
        await first?.admin.cluster('MEET', '127.0.0.1', server.port, busPort as unknown as string)
      if (index >= primaries) continue
      const from = Math.floor((slots * index) / primaries)
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', from, Math.floor((slots * (index + 1)) / primaries) - 1)
    }
    for (const { admin } of this.#members) await until(() => knows(admin, this.#members.length))
    for (const [index, { admin }] of this.#members.entries()) {
      const leader = this.#members[index - primaries]
      if (leader === undefined) continue
      await until(() => admin.cluster('REPLICATE', leader.id).then(Boolean, () => false))
      await until(async () => (await read(admin, 'replication')).includes('master_link_status:up'))
    }
    for (const { admin } of this.#members)
      await until(async () => String(await admin.cluster('INFO')).includes('cluster_state:ok'))
  }
}

async function knows(admin: Redis, count: number): Promise<boolean> {
  return String(await admin.cluster('INFO')).includes(`cluster_known_nodes:${count}\r`)
}

function read(admin: Redis, section: string): Promise<string> {
  return admin.info(section).catch(() => '')
}
