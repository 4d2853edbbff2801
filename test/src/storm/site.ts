import { dirname } from 'node:path'
import { createSealer, createSigningSecret, mintToken } from '@automation/administration'
import { CannotStart, type NodeProcess } from '@automation/launcher'
import { readSigningKey } from '@automation/webhooks'
import pg from 'pg'
import { type RunningProduct, startRunningProduct, type Tenant } from '../fixtures/product.js'
import { workspaceCount } from './planned-event.js'
import { makeRules, type StoredRule } from './rule-book.js'
import type { Target } from './target.js'
import { openTcpProxy, type TcpProxy } from './tcp-proxy.js'

/** A place for a process, which is filled anew when the process is killed. */
export interface Slot {
  name: string
  process: NodeProcess
  /** Of an API: changes with each start. */
  baseUrl: string
  /** Kills it with -9 and starts the next one. */
  replace(): Promise<void>
}

export interface StormWorkspace {
  id: string
  /** Of the provider whose webhooks it gets. */
  secretId: string
  signingKey: Buffer
}

/** Two APIs and two workers, which reach Postgres and Redis over lines that can be made bad. */
export interface Site {
  house: RunningProduct
  apis: Slot[]
  workers: Slot[]
  lines: { postgres: TcpProxy; redis: TcpProxy }
  workspaces: StormWorkspace[]
  rules: StoredRule[]
  /** Of a member of every workspace. */
  token: string
  /** Directory of what the processes print. */
  logs: string
  /** Starts that came to nothing, and were tried again. */
  failedStarts: string[]
  /** Past the proxies, on a connection of its own: what counts in the end, and who ends all others. */
  query<Row extends object>(text: string): Promise<Row[]>
  stop(): Promise<void>
}

export const provider = 'storm'

export async function openSite(target: Target): Promise<Site> {
  const house = await startRunningProduct({
    apis: 0,
    workers: 0,
    env: { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_PORTS: '1-65535' },
  })
  const { product } = house
  const lines = {
    postgres: await openTcpProxy(() => product.postgres?.port ?? 0),
    redis: await openTcpProxy(() => product.redis?.port ?? 0),
  }
  const env = {
    DATABASE_URL: through(lines.postgres, product.databaseUrl),
    REDIS_URL: through(lines.redis, product.redisUrl),
  }
  const failedStarts: string[] = []
  const [api0, api1, worker0, worker1] = await Promise.all([
    openSlot('API 1', () => product.startApi(env), failedStarts),
    openSlot('API 2', () => product.startApi(env), failedStarts),
    openSlot('worker 1', () => product.startWorker(env), failedStarts),
    openSlot('worker 2', () => product.startWorker(env), failedStarts),
  ])
  const tenants = [house as Tenant]
  while (tenants.length < workspaceCount) tenants.push(await house.addWorkspace())
  const rules = []
  const workspaces = []
  for (const tenant of tenants) {
    rules.push(...(await makeRules(tenant, target.url)))
    workspaces.push(await openDoor(house, tenant))
  }

  return {
    house,
    apis: [api0, api1],
    workers: [worker0, worker1],
    lines,
    workspaces,
    rules,
    token: await mintToken({ secret: product.jwtSecret, userId: 'tester', expiresInSeconds: 86_400 }),
    logs: dirname(worker0.process.log),
    failedStarts,
    async query<Row extends object>(text: string): Promise<Row[]> {
      const client = new pg.Client({ connectionString: product.databaseUrl })
      client.on('error', () => {})
      await client.connect()
      try {
        return (await client.query<Row>(text)).rows
      } finally {
        await client.end()
      }
    },
    async stop() {
      await house.stop()
      await lines.postgres.close()
      await lines.redis.close()
    },
  }
}

function through({ port }: TcpProxy, serverUrl: string): string {
  const url = new URL(serverUrl)
  url.port = String(port)
  return url.href
}

async function openSlot(
  name: string,
  start: () => Promise<NodeProcess & { baseUrl?: string }>,
  failedStarts: string[],
): Promise<Slot> {
  const first = await start()
  const slot: Slot = {
    name,
    process: first,
    baseUrl: first.baseUrl ?? '',
    async replace() {
      slot.process.kill('SIGKILL')
      await slot.process.exited
      const next = await startAgain()
      slot.process = next
      slot.baseUrl = next.baseUrl ?? ''
    },
  }
  return slot

  /** As whoever looks after processes does: one that does not come up, since a server is away just then, is tried again. */
  async function startAgain(): Promise<NodeProcess & { baseUrl?: string }> {
    for (;;) {
      try {
        return await start()
      } catch (error) {
        if (!(error instanceof CannotStart)) throw error
        failedStarts.push(`${name}: ${error.message}`)
      }
    }
  }
}

async function openDoor({ product, database }: RunningProduct, tenant: Tenant): Promise<StormWorkspace> {
  const administrator = { database, workspaceId: tenant.workspaceId, actor: 'cli:tests' }
  const sealer = createSealer(product.encryptionKey)
  const { id, secret } = await createSigningSecret(administrator, sealer, { provider })
  return { id: tenant.workspaceId, secretId: id, signingKey: readSigningKey(secret) }
}
