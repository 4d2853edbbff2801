import { setTimeout as wait } from 'node:timers/promises'
import { type HostAddress, type RedisAddress, readRedisUrl } from '@automation/process/settings'
import { Redis, type RedisOptions } from 'ioredis'
import { SentinelConnector, StandaloneConnector } from 'ioredis/built/connectors/index.js'
import { findSlotPrimary } from './find-slot-primary.js'
import { RedisFaults } from './redis-faults.js'

export type { Redis }

const retryStrategy = (times: number) => Math.min(50 * 2 ** (times - 1), 1_000)

/**
 * What a connection does while Redis is away.
 *
 * - `fail at once`: every call fails until Redis is back. ioredis would keep calls for later, also those that have failed meanwhile: so none
 *   waits for a connection, and none is sent again when its connection has broken (`maxRetriesPerRequest`). A Redis that does not
 *   respond within 1.8 s loses its connection, and counts as away until it responds again
 * - `wait`: calls wait until Redis is back, for consumers. A line on which a call has got no response for 15 s is given up, and the call
 *   sent again on a new one: otherwise it waits for as long as the system takes a silent line for good, which is a quarter of an hour
 *   where it has something to send, and for ever where it has not. BullMQ's blocking calls return within 10 s.
 *
 * Under both, a Redis that a failover made a replica is away, and so is a node of a cluster that does not serve the slot any more. The
 * connection is opened again until its address leads to the new primary. The server did nothing for the call that it refused, so `wait`
 * sends it again (2), and `fail at once` does not (1).
 */
const policies = {
  'fail at once': {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    socketTimeout: 1_800,
    commandTimeout: 2_000,
    connectTimeout: 2_000,
    reconnectOnError: (error: Error) => isOfOther(error) && 1,
    retryStrategy,
  },
  wait: {
    maxRetriesPerRequest: null,
    socketTimeout: 15_000,
    reconnectOnError: (error: Error) => isOfOther(error) && 2,
  },
} as const satisfies Record<string, RedisOptions>

/** A Sentinel that does not respond within this time (ms) is passed over. */
const sentinelMs = 1_000

/**
 * Opens a connection to Redis that reconnects by itself. With Sentinels it asks one of them for the primary each time that it connects.
 * With a cluster it asks the nodes for the primary of one slot: there, each queue needs a connection of its own.
 *
 * @param prefix of the keys that are used; its hash tag decides which slot they are in
 * @param options in addition to the policy's, or instead of them; times in ms
 */
export function openRedis(
  url: string,
  prefix: string,
  policy: keyof typeof policies,
  options: Pick<
    RedisOptions,
    'autoResubscribe' | 'commandTimeout' | 'enableAutoPipelining' | 'socketTimeout'
  > = {},
): Redis {
  const address = readRedisUrl(url)
  if (address === undefined) throw new Error('REDIS_URL is no URL of Redis')
  const { sentinels, nodes } = address
  if (nodes.length > 0 && !/\{[^}]+\}/.test(prefix))
    throw new Error(
      'QUEUE_PREFIX must have a hash tag, such as {automation}: with it a Redis Cluster keeps the keys in one slot',
    )
  const faults = new RedisFaults()
  const redis = new Redis(address.url.href, {
    ...policies[policy],
    ...(sentinels.length > 0 && sentinelOptions(address)),
    ...options,
    Connector: connectorToPrimary(faults, sentinels.length > 0 ? SentinelConnector : StandaloneConnector, {
      nodes,
      prefix,
    }),
  })
  faults.watch(redis)
  opened.set(redis, { faults, nodes })
  redis.on('end', () => opened.delete(redis))
  return redis
}

function sentinelOptions({ url, sentinels }: RedisAddress) {
  const isEncrypted = url.protocol === 'rediss:'
  return {
    sentinels,
    name: url.hostname,
    sentinelCommandTimeout: sentinelMs,
    sentinelRetryStrategy: retryStrategy,
    ...(isEncrypted && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  }
}

/**
 * Says why a connection is not ready, with what the server responded.
 *
 * @param fault of a connection that is ready, and whose server does not do what is needed
 */
export function describeAway(redis: Redis, fault = opened.get(redis)?.faults.last): string {
  return `Redis is unavailable (${addressOf(redis)}${fault === undefined ? '' : `: ${fault}`})`
}

function addressOf(redis: Redis): string {
  const { host, port, name, sentinels } = redis.options
  if (sentinels) return `${name} of the Sentinels ${sentinels.map(textOf).join(', ')}`
  const nodes = opened.get(redis)?.nodes ?? []
  return nodes.length > 0 ? `the cluster of ${nodes.map(textOf).join(', ')}` : `${host}:${port}`
}

function textOf({ host, port }: Partial<HostAddress>): string {
  return `${host}:${port}`
}

/**
 * Logs one line when Redis goes away and one when it is back, however often the connection is tried meanwhile.
 *
 * @param meanwhile what becomes of the work
 */
export function logOutages(redis: Redis, log: Log, meanwhile: string): void {
  let isAway = false
  redis.on('close', () => {
    // A connection that we have closed has ended already.
    if (!isAway && redis.status !== 'end') log.warn(`${describeAway(redis)}; ${meanwhile}`)
    isAway = true
  })
  redis.on('ready', () => {
    if (isAway) log.info('Redis is back')
    isAway = false
  })
}

interface Log {
  info(message: string): void
  warn(message: string): void
}

/**
 * A connection is ready if its server is no replica, and has accepted all that was said first: a database whose number is too high is
 * refused with an error that ioredis takes for no reason to stay out of database 0.
 */
function connectorToPrimary(
  faults: RedisFaults,
  Connector: typeof StandaloneConnector | typeof SentinelConnector,
  cluster: { nodes: HostAddress[]; prefix: string },
): NonNullable<RedisOptions['Connector']> {
  return class extends (Connector as typeof StandaloneConnector) {
    constructor(options: unknown) {
      super(options as ConstructorParameters<typeof StandaloneConnector>[0])
    }

    override async connect(emit: Parameters<StandaloneConnector['connect']>[0]) {
      if (cluster.nodes.length > 0) await this.#findNode()
      return super.connect(emit)
    }

    /** The last node is asked first: it serves the slot, unless the slot has moved. @throws if the connection is closed meanwhile */
    async #findNode(): Promise<void> {
      const options = this.options as RedisOptions
      const key = `${cluster.prefix}:slot`
      this.connecting = true
      for (let attempts = 1; ; attempts++) {
        const { host = '', port = 0 } = options
        const found = await findSlotPrimary([{ host, port }, ...cluster.nodes], key, options)
        if (!this.connecting) throw new Error('Connection is closed.')
        if (typeof found !== 'string') return void Object.assign(options, found)
        faults.wait(found)
        await wait(retryStrategy(attempts))
      }
    }

    override check(info: { role?: string }): boolean {
      // A connector to Sentinels goes on to the next one after a replica.
      if (super.check(info) && !isReplica(info.role)) return !faults.isNoted
      faults.note('it is a replica, which accepts no writes')
      return false
    }
  }
}

function isReplica(role: string | undefined): boolean {
  return role === 'slave' || role === 'replica'
}

/** The connections of this process, and what is wrong with them. */
const opened = new Map<Redis, { faults: RedisFaults; nodes: HostAddress[] }>()

/**
 * Whether only a server that is not the primary responds so. A replica: to a call that writes, to one that waited while it became a replica,
 * or to one that reads while it has no leader. A node of a cluster: to any call on a slot that it does not serve, or serves only in part.
 * The other connections of the process look for themselves then: those that subscribe or publish get no such error.
 */
function isOfOther({ message }: Error): boolean {
  if (!/^(READONLY|UNBLOCKED|MASTERDOWN|MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b/.test(message)) return false
  if (!isLooking) void leaveReplicas()
  return true
}

let isLooking = false

async function leaveReplicas(): Promise<void> {
  isLooking = true
  await Promise.all([...opened.keys()].map(leaveReplica))
  isLooking = false
}

async function leaveReplica(redis: Redis): Promise<void> {
  if (redis.status !== 'ready') return
  const info = await redis.info('replication').catch(() => '')
  if (isReplica(/^role:(\w+)/m.exec(info)?.[1])) redis.disconnect(true)
}

/**
 * Waits until Redis responds, but not for longer than a time (ms): a process starts without it, too.
 *
 * @returns why it is away, if it still is
 */
export async function waitForRedis(redis: Redis, withinMs: number): Promise<string | undefined> {
  if (redis.status === 'ready') return undefined
  let isEnough = () => {}
  await new Promise<void>((resolve) => {
    isEnough = resolve
    redis.once('ready', resolve)
    setTimeout(resolve, withinMs).unref()
  })
  redis.off('ready', isEnough)
  return (redis.status as string) === 'ready' ? undefined : describeAway(redis)
}
