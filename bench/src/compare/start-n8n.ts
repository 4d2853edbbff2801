import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Product } from '@automation/launcher'
import pg from 'pg'
import { waitUntilNone } from '../backlog.js'
import type { Pids } from '../cpu-time.js'
import { withPostgres } from '../with-postgres.js'
import type { Command } from './find-n8n.js'
import { workflow, workflowId } from './n8n-workflow.js'

export interface N8n {
  baseUrl: string
  /** The processes that accept webhooks, and those that run them. */
  pids: Pids
  /** Waits until every execution is finished and stored. */
  drain(): Promise<void>
  /** Removes all executions, as the benchmark does for the product. */
  clear(): Promise<void>
  stop(): Promise<void>
}

/** The setup, in addition to queue mode. */
export interface N8nSetup {
  label: string
  env: Record<string, string>
  workers: number
  workerArgs: string[]
  /** Whether a separate process accepts webhooks. */
  hasWebhookProcess: boolean
}

const readyMs = 180_000

/** Starts n8n in queue mode with one workflow, its own database on the product's Postgres, and its own keys in the product's Redis. */
export async function startN8n(
  command: Command,
  setup: N8nSetup,
  { databaseUrl, redisUrl }: Product,
  directory: string,
): Promise<N8n> {
  await mkdir(directory, { recursive: true })
  const database = `n8n_${setup.label.replaceAll(/\W/g, '_')}`
  await withPostgres(databaseUrl, (postgres) => postgres.query(`CREATE DATABASE ${database}`))
  const url = new URL(databaseUrl)
  url.pathname = `/${database}`
  const port = await findPort()
  const env = { ...process.env, ...(await settings(url, redisUrl, directory, port)), ...setup.env }

  const running: ChildProcess[] = []
  const kill = () => {
    for (const child of running) child.kill('SIGKILL')
  }
  process.once('exit', kill)
  try {
    await writeFile(`${directory}/workflow.json`, JSON.stringify(workflow))
    await call(['import:workflow', `--input=${directory}/workflow.json`])
    await call(['publish:workflow', `--id=${workflowId}`])
    const main = await start('main', ['start'], port)
    const webhookPort = await findPort()
    const webhooks = setup.hasWebhookProcess
      ? await start('webhooks', ['webhook'], webhookPort, { N8N_PORT: `${webhookPort}` })
      : main
    const workers: ChildProcess[] = []
    for (let number = 1; number <= setup.workers; number++) workers.push(await startWorker(number))
    const postgres = new pg.Client({ connectionString: url.href })
    await postgres.connect()
    return {
      baseUrl: `http://127.0.0.1:${setup.hasWebhookProcess ? webhookPort : port}`,
      pids: {
        API: [...new Set([main.pid, webhooks.pid])] as number[],
        worker: workers.map(({ pid }) => pid as number),
      },
      drain: () => waitUntilNone('Execution', () => findUndone(postgres)),
      clear: () => clear(postgres),
      async stop() {
        await postgres.end()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }

  async function call(args: string[]): Promise<void> {
    await promisify(execFile)(command.program, [...command.args, ...args], { env })
  }

  async function startWorker(number: number): Promise<ChildProcess> {
    const healthPort = await findPort()
    return start(`worker-${number}`, ['worker', ...setup.workerArgs], healthPort, {
      QUEUE_HEALTH_CHECK_ACTIVE: 'true',
      QUEUE_HEALTH_CHECK_PORT: `${healthPort}`,
    })
  }

  async function start(name: string, args: string[], healthPort: number, own = {}): Promise<ChildProcess> {
    const log = `${directory}/${name}.log`
    const output = openSync(log, 'w')
    const child = spawn(command.program, [...command.args, ...args], {
      env: { ...env, N8N_RUNNERS_BROKER_PORT: `${await findPort()}`, ...own },
      stdio: ['ignore', output, output],
    })
    running.push(child)
    const deadline = performance.now() + readyMs
    while (!(await isHealthy(healthPort))) {
      if (child.exitCode !== null || performance.now() > deadline)
        throw new Error(`n8n ${args[0]} did not come up:\n${await readFile(log, 'utf8')}`)
      await delay(200)
    }
    return child
  }

  async function stop(): Promise<void> {
    process.removeListener('exit', kill)
    await Promise.all(
      running.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        // Its unfinished work is not needed, and a regular shutdown takes half a minute.
        child.kill('SIGKILL')
        await once(child, 'exit')
      }),
    )
  }
}

async function settings(url: URL, redisUrl: string, directory: string, port: number) {
  const redis = new URL(redisUrl)
  return {
    DB_TYPE: 'postgresdb',
    DB_POSTGRESDB_HOST: url.hostname,
    DB_POSTGRESDB_PORT: url.port,
    DB_POSTGRESDB_DATABASE: url.pathname.slice(1),
    DB_POSTGRESDB_USER: url.username,
    DB_POSTGRESDB_PASSWORD: url.password,
    EXECUTIONS_MODE: 'queue',
    QUEUE_BULL_REDIS_HOST: redis.hostname,
    QUEUE_BULL_REDIS_PORT: redis.port,
    QUEUE_BULL_REDIS_PASSWORD: redis.password,
    QUEUE_BULL_PREFIX: `n8n-${url.pathname.slice(1)}`,
    N8N_USER_FOLDER: directory,
    N8N_ENCRYPTION_KEY: randomBytes(16).toString('hex'),
    N8N_PORT: `${port}`,
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_LOG_LEVEL: 'warn',
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
    // n8n keeps successful executions, as the product does.
    EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'all',
  }
}

/** Over one connection, and without counting: the cost of waiting is not n8n's. */
async function findUndone(postgres: pg.Client): Promise<string | undefined> {
  const { rows } = await postgres.query<{ id: number }>(`
    SELECT id FROM execution_entity WHERE status IN ('new', 'running', 'waiting') ORDER BY id DESC LIMIT 1`)
  return rows[0] && `${rows[0].id}`
}

async function clear(postgres: pg.Client): Promise<void> {
  await postgres.query('TRUNCATE execution_entity CASCADE')
  await postgres.query('CHECKPOINT')
}

async function isHealthy(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** A port that is free at this moment. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
