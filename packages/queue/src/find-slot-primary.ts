import type { HostAddress } from '@automation/process/settings'
import { Redis, type RedisOptions } from 'ioredis'

/** A node that does not respond within this time (ms) is passed over. */
const nodeMs = 1_000
/** Nodes that do not agree yet send us from one to the other. */
const mostHops = 5

type Login = Pick<RedisOptions, 'username' | 'password' | 'tls'>

/**
 * Finds the primary that serves the slot of a key. Each node of a cluster knows it:
 *
 *   EXISTS key ──▶ it responds: it is the primary
 *              ├─ MOVED ──▶ ask the node that it names
 *              └─ ASK, CLUSTERDOWN, or no response ──▶ ask the next one that we know
 *
 * ASK means that the slot moves to another node. Meanwhile neither node runs a script on keys that are there and keys that are not, and each
 * script of BullMQ has both: so the slot counts as away until it has moved.
 *
 * @param key that no entry has
 * @returns a text that says why there is none, if there is none
 */
export async function findSlotPrimary(
  nodes: HostAddress[],
  key: string,
  login: Login,
): Promise<HostAddress | string> {
  let fault = ''
  for (const first of nodes) {
    let node = first
    for (let hops = 0; hops < mostHops; hops++) {
      const refusal = await ask(node, login, key)
      if (refusal === undefined) return node
      fault = `${node.host}:${node.port}: ${refusal}`
      // A node that does not know its own name leaves it out.
      const [, host, port] = /^MOVED \d+ (\S*):(\d+)$/.exec(refusal) ?? []
      if (port === undefined) break
      node = { host: host || node.host, port: Number(port) }
    }
  }
  return fault
}

async function ask(
  { host, port }: HostAddress,
  { username, password, tls }: Login,
  key: string,
): Promise<string | undefined> {
  const redis = new Redis(port, host, {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls }),
    enableReadyCheck: false,
    connectTimeout: nodeMs,
    commandTimeout: nodeMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  let fault: string | undefined
  redis.on('error', ({ message }) => {
    fault = message
  })
  try {
    await redis.exists(key)
    return undefined
  } catch (error) {
    return fault ?? (error as Error).message
  } finally {
    redis.disconnect()
  }
}
