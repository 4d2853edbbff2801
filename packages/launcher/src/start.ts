import { rmSync } from 'node:fs'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mintLink } from '@automation/process/sign-in'
import { CannotStart } from './cannot-start.js'
import { describeProduct } from './demo/banner.js'
import { choosePorts } from './demo/choose-ports.js'
import { type Demo, seedDemo } from './demo/demo.js'
import { readDemoSettings } from './demo/demo-settings.js'
import { describeFailure } from './demo/describe-failure.js'
import { reachRedis } from './demo/given-redis.js'
import { claimDatabase } from './demo/given-servers.js'
import { listenToInterrupts, whenAborted } from './demo/interrupts.js'
import { lockDirectory } from './demo/launcher-lock.js'
import { writeProductFile } from './demo/product-file.js'
import { keepSecrets } from './demo/secrets.js'
import { forgetPostgresDefaults } from './environment.js'
import { type ConsoleSettings, type Product, startProduct } from './product/product.js'
import { printLine, printStep } from './progress.js'
import { hostOfUrl } from './servers/ports.js'
import { type Exit, type RunningProcess, readTail } from './servers/running-process.js'

// start.js [directory]: the product keeps its data in `.data` of the clone unless another directory is given.
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const directory = resolve(process.argv[2] ?? `${root}.data`)
/** How long the link to the console works. */
const linkMinutes = 15
/** Exists as long as the product serves. */
const productFile = `${directory}/product.env`

forgetPostgresDefaults()
const interrupted = listenToInterrupts()
try {
  await run(trimValues(process.env))
  process.exit(0)
} catch (error) {
  if (interrupted.aborted) process.exit(130)
  console.error(await describeFailure(error, directory))
  process.exit(1)
}

/** Starts the demo product, and returns when a signal asks for it. Throws when a part of the product has died. */
async function run(variables: NodeJS.ProcessEnv): Promise<void> {
  const { host, env, remarks } = readDemoSettings(variables)
  await mkdir(directory, { recursive: true })
  // For root, Postgres and Redis run as another user, who must be able to enter.
  await chmod(directory, process.getuid?.() === 0 ? 0o711 : 0o700)
  const { wasKilled, unlock } = lockDirectory(`${directory}/launcher.pid`)
  // However this process exits: a second Ctrl-C does not wait for what is below.
  process.once('exit', () => {
    rmSync(productFile, { force: true })
    unlock()
  })
  await rm(productFile, { force: true })
  try {
    const ports = await choosePorts(variables, { host, wasKilled })
    const kept = await keepSecrets(`${directory}/secrets.json`)
    const board = {
      url: `http://${hostOfUrl(host)}:${ports.board}`,
      user: 'operator',
      password: kept.boardPassword,
    }
    remarks.forEach(printLine)
    const given = await useGivenServers(variables, kept.queueId)
    const pages = { board, console: describeConsole(ports, kept.consoleSecret) }
    const product = await startProduct({
      directory,
      ports: { api: ports.api },
      databaseUrl: given.databaseUrl,
      redisUrl: given.redisUrl,
      durable: true,
      env: {
        ...env,
        ...given.env,
        HOST: host,
        JWT_SECRET: variables.JWT_SECRET || kept.jwtSecret,
        ENCRYPTION_KEY: variables.ENCRYPTION_KEY || kept.encryptionKey,
        CONSOLE_URL: pages.console.CONSOLE_URL,
      },
      step: printStep,
      signal: interrupted,
    })
    await serve(product, pages)
  } finally {
    unlock()
  }
}

/** As the processes read them: white space at the ends is no part of a value. */
function trimValues(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value?.trim()]))
}

/** Uses the servers of DATABASE_URL and REDIS_URL only as far as they are the demo's. */
async function useGivenServers(variables: NodeJS.ProcessEnv, queueId: string) {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = variables
  if (databaseUrl) printLine(`DATABASE_URL: the demo uses ${await claimDatabase(databaseUrl)}`)
  if (!redisUrl) return { databaseUrl: databaseUrl || undefined, redisUrl: undefined, env: {} }
  // The jobs of another product in this Redis belong to its workers.
  const env = { QUEUE_PREFIX: `{automation-demo-${queueId}}` }
  printLine(
    `REDIS_URL: the demo uses ${await reachRedis(redisUrl)}, with keys that begin with ${env.QUEUE_PREFIX}`,
  )
  return { databaseUrl: databaseUrl || undefined, redisUrl, env }
}

/** What is shown to people, beside the API. */
interface Pages {
  board: Demo['board']
  console: ConsoleSettings
}

/** The console is on the loopback address alone, since its cookie travels in the clear. */
function describeConsole(
  { console: port, board }: { console: number; board: number },
  secret: string,
): ConsoleSettings {
  return {
    HOST: '127.0.0.1',
    CONSOLE_PORT: `${port}`,
    CONSOLE_URL: `http://127.0.0.1:${port}`,
    CONSOLE_SECRET: secret,
    BOARD_PORT: `${board}`,
  }
}

async function serve(product: Product, pages: Pages): Promise<void> {
  try {
    await Promise.race([failWhenOneDies(product), serveUntilInterrupted(product, pages)])
    console.log('\nStopping …')
  } finally {
    await rm(productFile, { force: true })
    await product.stop()
  }
  console.log('Stopped.')
}

async function serveUntilInterrupted(product: Product, { board, console: own }: Pages): Promise<void> {
  const baseUrl = product.apis[0]?.baseUrl ?? ''
  const consoleUrl = own.CONSOLE_URL
  const demo = await seedDemo({ file: `${directory}/demo.json`, baseUrl, board, consoleUrl, ...product })
  await writeProductFile(productFile, product, own)
  const parts = [...product.apis, ...product.workers]
  const metricsPorts = parts.flatMap(({ metricsPort }) => metricsPort ?? [])
  console.log(describeProduct({ baseUrl, directory, shown: shorten(directory), metricsPorts }))
  await Promise.race([startPages(product, { board, console: own }, demo.token), whenAborted(interrupted)])
  await Promise.race([failWhenOneDies(product), whenAborted(interrupted)])
}

/** Start after everything else, so that a user who only wants to try the API need not wait for them. */
async function startPages(product: Product, pages: Pages, bearer: string): Promise<void> {
  const { CONSOLE_URL: consoleUrl, CONSOLE_SECRET: secret } = pages.console
  await Promise.all([startBoard(product, pages.board, consoleUrl), product.startConsole(pages.console)])
  const link = await mintLink({ consoleUrl, secret, bearer, lifetimeSeconds: linkMinutes * 60 })
  console.log(`
Console: ${link}

This link signs you in once, within ${linkMinutes} minutes. Another one: npm run console`)
}

async function startBoard(
  product: Product,
  { url, user, password }: Demo['board'],
  consoleUrl: string,
): Promise<void> {
  await product.startBoard({
    BOARD_PASSWORD: password,
    BOARD_PORT: new URL(url).port,
    CONSOLE_URL: consoleUrl,
  })
  console.log(`\nQueue board: ${url}, user ${user}, password ${password}`)
}

async function failWhenOneDies({
  apis,
  workers,
  boards,
  consoles,
  postgres,
  redis,
}: Product): Promise<never> {
  const servers = [postgres, redis].filter((server) => server !== undefined)
  const parts: RunningProcess[] = [...apis, ...workers, ...boards, ...consoles, ...servers]
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
