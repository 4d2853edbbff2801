import { mkdir, rm } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CannotStart } from './cannot-start.js'
import { type Demo, seedDemo } from './demo.js'
import { lockDirectory } from './launcher-lock.js'
import { findFreePort, isPortFree } from './ports.js'
import { type Product, startProduct } from './product.js'
import { writeProductFile } from './product-file.js'
import { tellStep } from './progress.js'
import { type Exit, type RunningProcess, readTail } from './running-process.js'
import { keepSecrets } from './secrets.js'

// start.js [directory]: what the product keeps lies in `.data` of the clone unless another place is given.
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const directory = resolve(process.argv[2] ?? `${root}.data`)
/** There as long as the product serves. */
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

/** Brings the demo product up, and ends when it is asked to, or when a part of it has died. */
async function run(variables: NodeJS.ProcessEnv): Promise<void> {
  const port = readPort('PORT', variables.PORT) ?? 3000
  await mkdir(directory, { recursive: true })
  const { wasKilled, unlock } = await lockDirectory(`${directory}/launcher.pid`, 'launcher/dist/src/start.js')
  try {
    // The API of a launcher that was killed notices by itself, and answers what it has in hand.
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
      step: tellStep,
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

/** After everything else: nobody who only wants to try something waits for it. */
async function startBoard(product: Product, { url, user, password }: Demo['board']): Promise<void> {
  await product.startBoard({
    BOARD_USER: user,
    BOARD_PASSWORD: password,
    BOARD_PORT: new URL(url).port,
    BOARD_API_URL: product.apis[0]?.baseUrl ?? '',
  })
  console.log(`\nThe queue is on the board: ${url}, user ${user}, password ${password}`)
}

/**
 * The first Ctrl-C stops in order, a second one at once: leaving the process takes down what it has started.
 * Under `npm start` each Ctrl-C arrives twice, from the terminal and from npm, so a second one right away is the first.
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
  throw new CannotStart(`${name} is ${text}, and has to be a number from 1 to 65535`)
}

/** Unless somebody has asked for a port, any will do. */
async function chooseBoardPort(text: string | undefined, usual: number): Promise<number> {
  const wanted = readPort('BOARD_PORT', text)
  if (await isPortFree(wanted ?? usual)) return wanted ?? usual
  if (wanted === undefined) return findFreePort()
  throw new CannotStart(`Port ${wanted} is taken; set BOARD_PORT to another one`)
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

Mails go to ${shorten(directory)}/mail, logs to ${shorten(directory)}/logs. Ctrl-C stops everything.`
}
