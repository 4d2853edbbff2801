import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { tokenParty } from '@automation/access'
import { migrate } from '@automation/database'
import { entries } from '../entries.js'
import { quietStep, type Step } from '../progress.js'
import { startPostgres } from '../servers/postgres.js'
import { startRedis } from '../servers/redis.js'
import type { Server } from '../servers/server.js'
import { type NodeProcess, startNode } from './start-node.js'

export interface ProductOptions {
  /** Holds the data of Postgres and Redis, `mail/` and `logs/`. */
  directory: string
  apis?: number
  workers?: number
  ports?: { api?: number; postgres?: number; redis?: number }
  /** A running Postgres, instead of a private one. */
  databaseUrl?: string | undefined
  /** A running Redis, instead of a private one. */
  redisUrl?: string | undefined
  /** Whether data must survive a crash of the machine (Postgres) and a restart of the server (Redis). */
  durable: boolean
  /** Added to the variables that the product sets itself, for APIs, workers and boards. */
  env?: Record<string, string>
  step?: Step
  /** Aborts the start between two steps; everything already started is stopped. */
  signal?: AbortSignal
}

export interface ApiProcess extends NodeProcess {
  baseUrl: string
}

export interface BoardSettings {
  BOARD_USER: string
  BOARD_PASSWORD: string
  [name: string]: string
}

export interface BoardProcess extends NodeProcess {
  baseUrl: string
}

export interface Product {
  databaseUrl: string
  redisUrl: string
  /** Signs the tokens that the APIs accept. */
  jwtSecret: string
  /** Seals the signing secrets: 32 bytes in base64. */
  encryptionKey: string
  env: Record<string, string>
  /** All processes that were started, including those that have ended. */
  apis: ApiProcess[]
  workers: NodeProcess[]
  boards: BoardProcess[]
  /** undefined if `databaseUrl` was given; likewise `redis` and `redisUrl`. */
  postgres: Server | undefined
  redis: Server | undefined
  /** @param env added to the product's variables, for this process alone */
  startApi(env?: Record<string, string>): Promise<ApiProcess>
  startWorker(env?: Record<string, string>): Promise<NodeProcess>
  /** @param env contains the login of the board: no board is started automatically */
  startBoard(env: BoardSettings): Promise<BoardProcess>
  /** Starts Postgres again on its data and port, after it was killed. */
  restartPostgres(): Promise<Server>
  restartRedis(): Promise<Server>
  /** Stops APIs, workers and boards first, so that they finish their work in progress; then Redis and Postgres. */
  stop(): Promise<void>
}

/**
 * Starts the whole product until it is ready for requests: Postgres, Redis, the schema, workers and APIs.
 *
 * @throws CannotStart if a part does not start; every other part is stopped then
 */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { directory, apis = 1, workers = 1, step = quietStep, signal } = options
  await mkdir(`${directory}/logs`, { recursive: true })
  await mkdir(`${directory}/mail`, { recursive: true })
  const product = describeProduct(options)
  try {
    if (options.databaseUrl === undefined) await step('Starting Postgres', () => product.restartPostgres())
    signal?.throwIfAborted()
    if (options.redisUrl === undefined) await step('Starting Redis', () => product.restartRedis())
    signal?.throwIfAborted()
    await step('Preparing the database', () => migrate(product.databaseUrl))
    signal?.throwIfAborted()
    await step('Starting API and worker', () =>
      settleAll([
        ...Array.from({ length: apis }, () => product.startApi()),
        ...Array.from({ length: workers }, () => product.startWorker()),
      ]),
    )
    signal?.throwIfAborted()
    return product
  } catch (error) {
    await product.stop()
    throw error
  }
}

/** The product before any part of it is started. */
function describeProduct(options: ProductOptions): Product {
  const { directory, ports = {}, durable } = options
  const jwtSecret = options.env?.JWT_SECRET ?? randomBytes(32).toString('base64url')
  const encryptionKey = options.env?.ENCRYPTION_KEY ?? randomBytes(32).toString('base64')
  const apis: ApiProcess[] = []
  const workers: NodeProcess[] = []
  const boards: BoardProcess[] = []
  let startedApis = 0
  let startedWorkers = 0
  let startedBoards = 0

  const product: Product = {
    databaseUrl: options.databaseUrl ?? '',
    redisUrl: options.redisUrl ?? '',
    jwtSecret,
    encryptionKey,
    apis,
    workers,
    boards,
    postgres: undefined,
    redis: undefined,
    get env() {
      return {
        DATABASE_URL: product.databaseUrl,
        REDIS_URL: product.redisUrl,
        JWT_SECRET: jwtSecret,
        JWT_ISSUER: tokenParty,
        JWT_AUDIENCE: tokenParty,
        ENCRYPTION_KEY: encryptionKey,
        HOST: '127.0.0.1',
        MAIL_DIR: `${directory}/mail`,
        ...options.env,
      }
    },
    async startApi(own = {}) {
      const name = `api-${++startedApis}`
      const PORT = `${startedApis === 1 ? (ports.api ?? 0) : 0}`
      const env = { ...product.env, PORT, ...own }
      const api = await startNode({ name, entry: entries.api, env, log: `${directory}/logs/${name}.log` })
      const baseUrl = `http://127.0.0.1:${api.port}`
      apis.push({ ...api, baseUrl })
      return { ...api, baseUrl }
    },
    async startWorker(own = {}) {
      const name = `worker-${++startedWorkers}`
      const env = { ...product.env, PROBE_PORT: '0', ...own }
      const log = `${directory}/logs/${name}.log`
      const worker = await startNode({ name, entry: entries.worker, env, log })
      workers.push(worker)
      return worker
    },
    async startBoard(own) {
      const name = `board-${++startedBoards}`
      const env = { ...product.env, BOARD_PORT: '0', ...own }
      const log = `${directory}/logs/${name}.log`
      const board = await startNode({ name, entry: entries.board, env, log })
      const baseUrl = `http://127.0.0.1:${board.port}`
      boards.push({ ...board, baseUrl })
      return { ...board, baseUrl }
    },
    async restartPostgres() {
      const port = product.postgres?.port ?? ports.postgres
      const log = `${directory}/logs/postgres.log`
      product.postgres = await startPostgres({ directory: `${directory}/postgres`, port, durable, log })
      product.databaseUrl = product.postgres.url
      return product.postgres
    },
    async restartRedis() {
      const port = product.redis?.port ?? ports.redis
      const log = `${directory}/logs/redis.log`
      product.redis = await startRedis({ directory: `${directory}/redis`, port, persistent: durable, log })
      product.redisUrl = product.redis.url
      return product.redis
    },
    async stop() {
      await settleAll([...apis, ...workers, ...boards].map((process) => process.stop()))
      await product.redis?.stop()
      await product.postgres?.stop()
    },
  }
  return product
}

/** Like `Promise.all`, but it throws only after all promises are settled. */
async function settleAll(promises: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) {
    if (result.status === 'rejected') throw result.reason
  }
}
