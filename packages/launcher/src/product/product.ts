import { randomBytes } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { tokenParty } from '@automation/access'
import { migrate, OtherTables } from '@automation/database'
import { CannotStart } from '../cannot-start.js'
import { holdClone } from '../clone-lock.js'
import { entries } from '../entries.js'
import { makePrivateDirectory } from '../private-file.js'
import { printLine, quietStep } from '../progress.js'
import { hostOfUrl } from '../servers/ports.js'
import { startPostgres } from '../servers/postgres.js'
import { startRedis } from '../servers/redis.js'
import type { Server } from '../servers/server.js'
import type { ProductOptions } from './product-options.js'
import { type NodeProcess, startNode } from './start-node.js'

export interface ApiProcess extends NodeProcess {
  baseUrl: string
}

export interface BoardSettings {
  BOARD_PASSWORD: string
  [name: string]: string
}

export interface BoardProcess extends NodeProcess {
  baseUrl: string
}

export interface ConsoleSettings {
  CONSOLE_SECRET: string
  CONSOLE_URL: string
  CONSOLE_PORT: string
  [name: string]: string
}

export interface ConsoleProcess extends NodeProcess {
  baseUrl: string
}

export interface Product {
  databaseUrl: string
  redisUrl: string
  /** JWT_SECRET: the first of its secrets signs the tokens that the APIs accept. */
  jwtSecret: string
  /** ENCRYPTION_KEY: the first of its keys seals the signing secrets. */
  encryptionKey: string
  env: Record<string, string>
  /** All processes that were started, including those that have ended. */
  apis: ApiProcess[]
  workers: NodeProcess[]
  boards: BoardProcess[]
  consoles: ConsoleProcess[]
  /** undefined if `databaseUrl` was given; likewise `redis` and `redisUrl`. */
  postgres: Server | undefined
  redis: Server | undefined
  /**
   * @param env added to the product's variables, for this process alone
   * @param entry of another installation; by default the one of this clone
   */
  startApi(env?: Record<string, string>, entry?: string): Promise<ApiProcess>
  startWorker(env?: Record<string, string>, entry?: string): Promise<NodeProcess>
  /** @param env contains the login of the board: no board is started automatically */
  startBoard(env: BoardSettings): Promise<BoardProcess>
  /** Starts a console of the first API. @param env contains its secret and its address: no console is started automatically */
  startConsole(env: ConsoleSettings, entry?: string): Promise<ConsoleProcess>
  /** Starts Postgres again on its data and port, after it was killed. */
  restartPostgres(): Promise<Server>
  restartRedis(): Promise<Server>
  /** Stops APIs, workers, boards and consoles first, so that they finish their work in progress; then Redis and Postgres. */
  stop(): Promise<void>
}

/**
 * Starts the whole product until it is ready for requests: Postgres, Redis, the schema, workers and APIs.
 *
 * @throws CannotStart if a part does not start; every other part is stopped then
 */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { directory, apis = 1, workers = 1, step = quietStep, signal } = options
  await holdClone()
  await makePrivateDirectory(`${directory}/logs`)
  await makePrivateDirectory(`${directory}/mail`)
  const product = new LocalProduct(options)
  try {
    if (options.databaseUrl === undefined) await step('Starting Postgres', () => product.restartPostgres())
    signal?.throwIfAborted()
    if (options.redisUrl === undefined) await step('Starting Redis', () => product.restartRedis())
    signal?.throwIfAborted()
    await step('Preparing the database', () => prepareDatabase(product, options))
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

async function prepareDatabase(product: LocalProduct, { directory, signal }: ProductOptions): Promise<void> {
  await migrate(product.databaseUrl, { signal, say: printLine }).catch((error: Error) => {
    if (error instanceof OtherTables && product.postgres !== undefined)
      throw new CannotStart(describeOldData(directory, product.postgres.directory), { cause: error })
    throw new CannotStart(`The database could not be migrated: ${error.message}`, { cause: error })
  })
}

function describeOldData(directory: string, home: string): string {
  const all = home.startsWith(directory) ? directory : `${directory} and ${home}`
  return `${directory} has the tables of a development version from before the first release: remove ${all}, and start again`
}

/** The product; at first, no part of it is started. */
class LocalProduct implements Product {
  databaseUrl: string
  redisUrl: string
  readonly jwtSecret: string
  readonly encryptionKey: string
  readonly apis: ApiProcess[] = []
  readonly workers: NodeProcess[] = []
  readonly boards: BoardProcess[] = []
  readonly consoles: ConsoleProcess[] = []
  postgres: Server | undefined
  redis: Server | undefined
  readonly #options: ProductOptions
  #startedApis = 0
  #startedWorkers = 0
  #startedBoards = 0
  #startedConsoles = 0
  #startedProcesses = 0

  constructor(options: ProductOptions) {
    this.#options = options
    this.databaseUrl = options.databaseUrl ?? ''
    this.redisUrl = options.redisUrl ?? ''
    this.jwtSecret = options.env?.JWT_SECRET ?? randomBytes(32).toString('base64url')
    this.encryptionKey = options.env?.ENCRYPTION_KEY ?? randomBytes(32).toString('base64')
  }

  get env(): Record<string, string> {
    return {
      DATABASE_URL: this.databaseUrl,
      REDIS_URL: this.redisUrl,
      JWT_SECRET: this.jwtSecret,
      JWT_ISSUER: tokenParty,
      JWT_AUDIENCE: tokenParty,
      ENCRYPTION_KEY: this.encryptionKey,
      HOST: '127.0.0.1',
      SMTP_URL: pathToFileURL(`${this.#options.directory}/mail`).href,
      ...this.#options.env,
    }
  }

  /** The variables of the next process: two processes cannot share a port. */
  #envOfNext(): Record<string, string> {
    const first = Number(this.env.METRICS_PORT)
    const METRICS_PORT = `${first + this.#startedProcesses++}`
    return first > 0 ? { ...this.env, METRICS_PORT } : this.env
  }

  async startApi(own: Record<string, string> = {}, entry = entries.api): Promise<ApiProcess> {
    const name = `api-${++this.#startedApis}`
    const PORT = `${this.#startedApis === 1 ? (this.#options.ports?.api ?? 0) : 0}`
    const env: Record<string, string> = { ...this.#envOfNext(), PORT, ...own }
    const started = await startNode({ name, entry, env, log: this.#logOf(name) })
    const api = { ...started, baseUrl: baseUrlOf(env.HOST, started) }
    this.apis.push(api)
    return api
  }

  async startWorker(own: Record<string, string> = {}, entry = entries.worker): Promise<NodeProcess> {
    const name = `worker-${++this.#startedWorkers}`
    const env = { ...this.#envOfNext(), PROBE_PORT: '0', ...own }
    const worker = await startNode({ name, entry, env, log: this.#logOf(name) })
    this.workers.push(worker)
    return worker
  }

  async startBoard(own: BoardSettings): Promise<BoardProcess> {
    const name = `board-${++this.#startedBoards}`
    const env: Record<string, string> = { ...this.#envOfNext(), BOARD_PORT: '0', ...own }
    const started = await startNode({ name, entry: entries.board, env, log: this.#logOf(name) })
    const board = { ...started, baseUrl: baseUrlOf(env.HOST, started) }
    this.boards.push(board)
    return board
  }

  async startConsole(own: ConsoleSettings, entry = entries.console): Promise<ConsoleProcess> {
    const name = `console-${++this.#startedConsoles}`
    const CONSOLE_API_URL = this.apis[0]?.baseUrl ?? ''
    const env: Record<string, string> = { ...this.#envOfNext(), CONSOLE_API_URL, ...own }
    const started = await startNode({ name, entry, env, log: this.#logOf(name) })
    const console = { ...started, baseUrl: own.CONSOLE_URL }
    this.consoles.push(console)
    return console
  }

  async restartPostgres(): Promise<Server> {
    const { directory, ports, durable, preparedPostgres: copyOf } = this.#options
    const port = this.postgres?.port ?? ports?.postgres
    const log = this.#logOf('postgres')
    this.postgres = await startPostgres({ directory: `${directory}/postgres`, port, durable, log, copyOf })
    this.databaseUrl = this.postgres.url
    return this.postgres
  }

  async restartRedis(): Promise<Server> {
    const { directory, ports, durable } = this.#options
    const port = this.redis?.port ?? ports?.redis
    const log = this.#logOf('redis')
    this.redis = await startRedis({ directory: `${directory}/redis`, port, persistent: durable, log })
    this.redisUrl = this.redis.url
    return this.redis
  }

  async stop(): Promise<void> {
    await settleAll(
      [...this.apis, ...this.workers, ...this.boards, ...this.consoles].map((process) => process.stop()),
    )
    await this.redis?.stop()
    await this.postgres?.stop()
  }

  #logOf(name: string): string {
    return `${this.#options.directory}/logs/${name}.log`
  }
}

function baseUrlOf(host: string | undefined, { port }: NodeProcess): string {
  return `http://${hostOfUrl(host ?? '127.0.0.1')}:${port}`
}

/** Like `Promise.all`, but it throws only after all promises are settled. */
async function settleAll(promises: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) {
    if (result.status === 'rejected') throw result.reason
  }
}
