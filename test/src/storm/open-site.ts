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

/** Servers that run already, instead of private ones, and what the processes are told. */
export interface GivenServers {
  databaseUrl?: string
  redisUrl?: string
  /** Of their data: no secret may be there. */
  directories?: string[]
  /** Names that the processes get instead of 127.0.0.1. */
  hosts?: { Postgres: string; Redis: string; target: string }
  /** Added to the variables of all processes. */
  env?: Record<string, string>
  /** What a process gets in addition, each time it starts, by the name of its slot. */
  envOf?(name: string): Record<string, string>
}

export async function openSite(
  target: Target,
  onceTarget: Target,
  { directories = [], hosts, env, envOf = () => ({}), ...urls }: GivenServers = {},
): Promise<Site> {
  const running = await startRunningProduct({
    apis: 0,
    workers: 0,
    ...urls,
    env: { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_PORTS: '1-65535', LOG_LEVEL: 'debug', ...env },
  })
  const { product } = running
  const failedStarts: string[] = []
  const open = (name: string, start: StartProcess) =>
    openSlot(name, product, (given, entry) => start({ ...given, ...envOf(name) }, entry), failedStarts, hosts)
  const [api0, api1, worker0, worker1] = await Promise.all([
    open('API 1', (given, entry) => product.startApi(given, entry)),
    open('API 2', (given, entry) => product.startApi(given, entry)),
    open('worker 1', (given, entry) => product.startWorker(given, entry)),
    open('worker 2', (given, entry) => product.startWorker(given, entry)),
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
  const openWorkspace = async (wanted: RuleToMake[]) => {
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
    hostile: await openWorkspace(hostileRules),
    once: await openWorkspace([onceRule(onceTarget.url)]),
    switched: await openWorkspace(switchedRules),
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

function through({ port }: TcpProxy, serverUrl: string, host = '127.0.0.1'): string {
  const url = new URL(serverUrl)
  url.hostname = host
  url.port = String(port)
  return url.href
}

/** Another process may get the port of one that was killed. */
const nowhere = 'http://127.0.0.1:9'

type StartProcess = (
  env: Record<string, string>,
  entry?: string,
) => Promise<NodeProcess & { baseUrl?: string }>

async function openSlot(
  name: string,
  product: Product,
  startProcess: StartProcess,
  failedStarts: string[],
  hosts: GivenServers['hosts'],
): Promise<Slot> {
  const lines = {
    Postgres: await openTcpProxy(() => portOf(product.databaseUrl)),
    Redis: await openTcpProxy(() => portOf(product.redisUrl)),
  }
  const start = (entry?: string, own: Record<string, string> = {}) =>
    startProcess(
      {
        DATABASE_URL: through(lines.Postgres, product.databaseUrl, hosts?.Postgres),
        REDIS_URL: through(lines.Redis, product.redisUrl, hosts?.Redis),
        ...own,
      },
      entry,
    )
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
    async exchange(entry) {
      await slot.process.stop()
      const own: Record<string, string> = slot.baseUrl === '' ? {} : { PORT: `${slot.process.port}` }
      slot.process = await start(entry, own)
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
  const hosts = [new URL(target.url).hostname]
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
