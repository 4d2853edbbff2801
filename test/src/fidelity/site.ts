import { setTimeout as delay } from 'node:timers/promises'
import { mintToken } from '@automation/access'
import type { NodeProcess } from '@automation/launcher'
import pg from 'pg'
import { type RunningProduct, startRunningProduct, type Tenant } from '../fixtures/product.js'
import type { Query } from '../storm/read-history.js'

const workspaceCount = 4
const workerCount = 2

/** A product with one API and two workers, and four workspaces. */
export interface Site {
  running: RunningProduct
  tenants: Tenant[]
  workspaces: { id: string }[]
  /** Of a member of every workspace. */
  token: string
  query: Query
  /** Kills one of the workers with -9, and starts another one in its place. The other one works meanwhile. */
  killWorker(index: number): Promise<void>
  stop(): Promise<void>
}

export async function openSite(): Promise<Site> {
  const running = await startRunningProduct({ workers: workerCount })
  const { product } = running
  const workers: NodeProcess[] = [...product.workers]
  const tenants = [patient(running)]
  while (tenants.length < workspaceCount) tenants.push(patient(await running.addWorkspace()))
  const pool = new pg.Pool({ connectionString: product.databaseUrl, max: 2 })
  return {
    running,
    tenants,
    workspaces: tenants.map(({ workspaceId: id }) => ({ id })),
    token: await mintToken({ secret: product.jwtSecret, userId: 'tester', expiresInSeconds: 86_400 }),
    async query<Row extends object>(text: string): Promise<Row[]> {
      return (await pool.query<Row>(text)).rows
    },
    async killWorker(index) {
      const worker = workers[index % workerCount]
      worker?.kill('SIGKILL')
      await worker?.exited
      workers[index % workerCount] = await product.startWorker()
    },
    async stop() {
      await pool.end()
      await running.stop()
    },
  }
}

/** On a busy machine, checks of rules may be too many (429), or Postgres too slow (503). What was done nevertheless is in the tables. */
function patient(tenant: Tenant): Tenant {
  return {
    ...tenant,
    async call(...args) {
      for (;;) {
        const answer = await tenant.call(...args)
        if (answer.status !== 429 && answer.status !== 503) return answer
        await delay(1_000 * Number(answer.headers.get('retry-after') ?? 1))
      }
    },
  }
}
