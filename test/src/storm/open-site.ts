import { dirname } from 'node:path'
import { createSealer, createSigningSecret, mintToken, putCredential } from '@automation/access'
import { CannotStart, type NodeProcess, type Product } from '@automation/launcher'
import { readSigningKey } from '@automation/webhooks'
import pg from 'pg'
import { type RunningProduct, startRunningProduct, type Tenant } from '../fixtures/product.js'
import { hostileRules } from './hostile-rules.js'
import { onceRule } from './once.js'
import { workspaceCount } from './planned-event.js'
import { makeRules, type RuleToMake, writeRules } from './rule-book.js'
import { clientSecret, key } from './secrets.js'
import { editorCount, provider, type Site, type Slot, type StormWorkspace } from './site.js'
import { switchedRules } from './switches.js'
import { type Target, tokenPath } from './target.js'
import { openTcpProxy, type TcpProxy } from './tcp-proxy.js'

/** Servers that run already, instead of private ones. */
export interface GivenServers {
  databaseUrl?: string
  redisUrl?: string
  /** Of their data: no secret may be there. */
  directories?: string[]
}

export async function openSite(
  target: Target,
  onceTarget: Target,
  { directories = [], ...urls }: GivenServers = {},
): Promise<Site> {
  const running = await startRunningProduct({
    apis: 0,
    workers: 0,
    ...urls,
    env: { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_PORTS: '1-65535', LOG_LEVEL: 'debug' },
  })
  const { product } = running
  const failedStarts: string[] = []
  const [api0, api1, worker0, worker1] = await Promise.all([
    openSlot('API 1', product, (env) => product.startApi(env), failedStarts),
    openSlot('API 2', product, (env) => product.startApi(env), failedStarts),
    openSlot('worker 1', product, (env) => product.startWorker(env), failedStarts),
    openSlot('worker 2', product, (env) => product.startWorker(env), failedStarts),
  ])
  const slots = [api0, api1, worker0, worker1]
  const tenants = [running as Tenant]
  while (tenants.length < workspaceCount) tenants.push(await running.addWorkspace())
  const rules = []
  const workspaces = []
  for (const tenant of tenants) {
    rules.push(...(await makeRules(tenant, writeRules(target.url))))
    workspaces.push(await prepareWorkspace(running, tenant, target))
  }
  const desks = []
  while (desks.length < editorCount) desks.push((await running.addWorkspace()).workspaceId)
  const open = async (wanted: RuleToMake[]) => {
    const tenant = await running.addWorkspace()
    return { id: tenant.workspaceId, rules: await makeRules(tenant, wanted) }
  }

  return {
    running,
    apis: [api0, api1],
    workers: [worker0, worker1],
    workspaces,
    desks,
    rules,
    hostile: await open(hostileRules),
    once: await open([onceRule(onceTarget.url)]),
    switched: await open(switchedRules),
    token: await mintToken({ secret: product.jwtSecret, userId: 'tester', expiresInSeconds: 86_400 }),
    logs: dirname(worker0.process.log),
    directories: [dirname(dirname(worker0.process.log)), ...directories],
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
      await running.stop()
      for (const { lines } of slots) await Promise.all([lines.Postgres.close(), lines.Redis.close()])
    },
  }
}

function portOf(serverUrl: string): number {
  return Number(new URL(serverUrl).port)
}

function through({ port }: TcpProxy, serverUrl: string): string {
  const url = new URL(serverUrl)
  url.port = String(port)
  return url.href
}

/** Another process may get the port of one that was killed. */
const nowhere = 'http://127.0.0.1:9'

async function openSlot(
  name: string,
  product: Product,
  startProcess: (env: Record<string, string>) => Promise<NodeProcess & { baseUrl?: string }>,
  failedStarts: string[],
): Promise<Slot> {
  const lines = {
    Postgres: await openTcpProxy(() => portOf(product.databaseUrl)),
    Redis: await openTcpProxy(() => portOf(product.redisUrl)),
  }
  const start = () =>
    startProcess({
      DATABASE_URL: through(lines.Postgres, product.databaseUrl),
      REDIS_URL: through(lines.Redis, product.redisUrl),
    })
  const first = await start()
  let replacing: Promise<void> | undefined
  const slot: Slot = {
    name,
    lines,
    process: first,
    baseUrl: first.baseUrl ?? '',
    replace() {
      replacing ??= replace().finally(() => {
        replacing = undefined
      })
      return replacing
    },
  }
  return slot

  async function replace(): Promise<void> {
    slot.process.kill('SIGKILL')
    slot.baseUrl = nowhere
    await slot.process.exited
    const next = await startAgain()
    slot.process = next
    slot.baseUrl = next.baseUrl ?? ''
  }

  /** Like a process manager: starts a process again if it cannot start because a server is away. */
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

async function prepareWorkspace(
  { product, database }: RunningProduct,
  tenant: Tenant,
  target: Target,
): Promise<StormWorkspace> {
  const administrator = { database, workspaceId: tenant.workspaceId, actor: 'cli:tests' }
  const sealer = createSealer(product.encryptionKey)
  const { id, secret } = await createSigningSecret(administrator, sealer, { provider })
  const hosts = ['127.0.0.1']
  await putCredential(administrator, sealer, 'KEY', { value: key, hosts })
  const tokenUrl = target.url + tokenPath
  await putCredential(administrator, sealer, 'ACCESS', {
    kind: 'oauth2',
    tokenUrl,
    clientId: 'storm',
    clientSecret,
    hosts,
  })
  return { id: tenant.workspaceId, secretId: id, signingKey: readSigningKey(secret) }
}
