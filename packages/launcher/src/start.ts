import { mkdir, rm } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CannotStart } from './cannot-start.js'
import { type Demo, seedDemo } from './demo/demo.js'
import { lockDirectory } from './demo/launcher-lock.js'
import { writeProductFile } from './demo/product-file.js'
import { keepSecrets } from './demo/secrets.js'
import { type Product, startProduct } from './product/product.js'
import { printStep } from './progress.js'
import { findFreePort, isPortFree } from './servers/ports.js'
import { type Exit, type RunningProcess, readTail } from './servers/running-process.js'

// start.js [directory]: the product keeps its data in `.data` of the clone unless another directory is given.
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const directory = resolve(process.argv[2] ?? `${root}.data`)
/** Exists as long as the product serves. */
const productFile = `${directory}/product.env`

const interrupted = listenToInterrupts()
try {
  await run(process.env)
  process.exit(0)
} catch (error) {
  if (interrupted.aborted) process.exit(130)
  console.error(error instanceof CannotStart ? error.message : error)
  process.exit(1)
}

/** Starts the demo product, and returns when a signal asks for it. Throws when a part of the product has died. */
async function run(variables: NodeJS.ProcessEnv): Promise<void> {
  const port = readPort('PORT', variables.PORT) ?? 3000
  await mkdir(directory, { recursive: true })
  const { wasKilled, unlock } = await lockDirectory(`${directory}/launcher.pid`, 'launcher/dist/src/start.js')
  try {
    // The API of a killed launcher notices this itself, and first finishes its requests in progress.
    if (wasKilled) await untilPortIsFree(port)
    if (!(await isPortFree(port))) throw new CannotStart(`Port ${port} is taken; set PORT to another one`)
    const kept = await keepSecrets(`${directory}/secrets.json`)
    const boardPort = await chooseBoardPort(variables.BOARD_PORT, port + 2)
    const board = { url: `http://127.0.0.1:${boardPort}`, user: 'demo', password: kept.boardPassword }
    const product = await startProduct({
      directory,
      ports: { api: port },
      databaseUrl: variables.DATABASE_URL || undefined,
      redisUrl: variables.REDIS_URL || undefined,
      durable: true,
      env: {
        JWT_SECRET: variables.JWT_SECRET || kept.jwtSecret,
        ENCRYPTION_KEY: variables.ENCRYPTION_KEY || kept.encryptionKey,
        ...(variables.HOST ? { HOST: variables.HOST } : {}),
      },
      step: printStep,
      signal: interrupted,
    })
    await serve(product, board)
  } finally {
    await unlock()
  }
}

async function untilPortIsFree(port: number): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!(await isPortFree(port)) && performance.now() < deadline) await delay(50)
}

async function serve(product: Product, board: Demo['board']): Promise<void> {
  try {
    await Promise.race([failWhenOneDies(product), serveUntilInterrupted(product, board)])
    console.log('\nStopping …')
  } finally {
    await rm(productFile, { force: true })
    await product.stop()
  }
  console.log('Stopped.')
}

async function serveUntilInterrupted(product: Product, board: Demo['board']): Promise<void> {
  const baseUrl = product.apis[0]?.baseUrl ?? ''
  await seedDemo({ file: `${directory}/demo.json`, baseUrl, board, ...product })
  await writeProductFile(productFile, product)
  console.log(banner(baseUrl))
  await Promise.race([startBoard(product, board), whenAborted(interrupted)])
  await Promise.race([failWhenOneDies(product), whenAborted(interrupted)])
}

/** Starts after everything else, so that a user who only wants to try the API need not wait for it. */
async function startBoard(product: Product, { url, user, password }: Demo['board']): Promise<void> {
  await product.startBoard({
    BOARD_USER: user,
    BOARD_PASSWORD: password,
    BOARD_PORT: new URL(url).port,
    BOARD_API_URL: product.apis[0]?.baseUrl ?? '',
  })
  console.log(`\nQueue board: ${url}, user ${user}, password ${password}`)
}

/**
 * The first Ctrl-C stops everything in order, a second one at once: when this process exits, its children end with it.
 * Under `npm start` each Ctrl-C arrives twice, from the terminal and from npm, so a second signal within a second counts
 * as the first one.
 */
function listenToInterrupts(): AbortSignal {
  const controller = new AbortController()
  let firstAt = 0
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) {
        firstAt = performance.now()
        controller.abort()
      } else if (performance.now() - firstAt > 1_000) process.exit(130)
    })
  }
  return controller.signal
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

async function failWhenOneDies({ apis, workers, boards, postgres, redis }: Product): Promise<never> {
  const servers = [postgres, redis].filter((server) => server !== undefined)
  const parts: RunningProcess[] = [...apis, ...workers, ...boards, ...servers]
  const [part, exit] = await Promise.race(parts.map(async (part) => [part, await part.exited] as const))
  throw new CannotStart(
    `\n${part.name} has ended unexpectedly (${describeExit(exit)}). The end of ${shorten(part.log)}:\n` +
      (await readTail(part.log)),
  )
}

function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code}` : signal
}

function shorten(path: string): string {
  const fromHere = relative('.', path)
  return fromHere.startsWith('..') ? path : fromHere
}

function readPort(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const port = Number(text)
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new CannotStart(`${name} is ${text}, but must be a number from 1 to 65535`)
}

/** Without a BOARD_PORT, any free port will do. */
async function chooseBoardPort(text: string | undefined, defaultPort: number): Promise<number> {
  const givenPort = readPort('BOARD_PORT', text)
  if (await isPortFree(givenPort ?? defaultPort)) return givenPort ?? defaultPort
  if (givenPort === undefined) return findFreePort()
  throw new CannotStart(`Port ${givenPort} is taken; set BOARD_PORT to another one`)
}

function banner(baseUrl: string): string {
  const demo = (field: string) => `$(node -p "require('${directory}/demo.json').${field}")`
  return `
Automation rules: ${baseUrl}        docs: ${baseUrl}/docs

Try it, in another terminal:

  curl -s ${baseUrl}/api/automation-rules/trigger/LEAD_CREATED \\
    -H "authorization: Bearer ${demo('token')}" \\
    -H "x-workspace-id: ${demo('workspaceId')}" \\
    -H 'content-type: application/json' \\
    -d '{"data":{"name":"Ada","score":95}}'

  npm run webhook -- send

Mail is written to ${shorten(directory)}/mail, logs to ${shorten(directory)}/logs. Ctrl-C stops everything.`
}
