import { rmSync } from 'node:fs'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spareLoopback } from '@automation/process/settings'
import { mintLink } from '@automation/process/sign-in'
import { describeProduct } from './demo/banner.js'
import { choosePorts } from './demo/choose-ports.js'
import { type Demo, seedDemo } from './demo/demo.js'
import { readDemoSettings } from './demo/demo-settings.js'
import { describeFailure } from './demo/describe-failure.js'
import { followEdits } from './demo/edits.js'
import { reachRedis } from './demo/given-redis.js'
import { claimDatabase } from './demo/given-servers.js'
import { listenToInterrupts, whenAborted } from './demo/interrupts.js'
import { lockDirectory } from './demo/launcher-lock.js'
import { LivingParts, shortenPath } from './demo/living-parts.js'
import { writeProductFile } from './demo/product-file.js'
import { restartChanged } from './demo/restart-changed.js'
import { keepSecrets } from './demo/secrets.js'
import { forgetPostgresDefaults } from './environment.js'
import { type BoardSettings, type ConsoleSettings, type Product, startProduct } from './product/product.js'
import { printLine, printStep } from './progress.js'
import { hostOfUrl } from './servers/ports.js'

// start.js [directory] [--watch]: the product keeps its data in `.data` of the clone unless another directory is given. With --watch, what an
// edit changes is built and started again.
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const [given] = process.argv.slice(2).filter((argument) => argument !== '--watch')
const isWatching = process.argv.includes('--watch')
const directory = resolve(given ?? `${root}.data`)
/** Of the page of examples/embed. */
const exampleOrigin = 'http://localhost:4000'
/** How long the link to the console works. */
const linkMinutes = 15
/** Exists as long as the product serves. */
const productFile = `${directory}/product.env`

forgetPostgresDefaults()
spareLoopback()
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
        EMBED_ORIGINS: exampleOrigin,
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
  const { apis, workers, postgres, redis } = product
  const living = new LivingParts([
    ...apis,
    ...workers,
    ...[postgres, redis].filter((server) => server !== undefined),
  ])
  try {
    await Promise.race([living.firstDeath, serveUntilInterrupted(product, pages, living)])
    console.log('\nStopping …')
  } finally {
    await rm(productFile, { force: true })
    await product.stop()
  }
  console.log('Stopped.')
}

async function serveUntilInterrupted(product: Product, pages: Pages, living: LivingParts): Promise<void> {
  const { board, console: own } = pages
  const baseUrl = product.apis[0]?.baseUrl ?? ''
  const consoleUrl = own.CONSOLE_URL
  const demo = await seedDemo({ file: `${directory}/demo.json`, baseUrl, board, consoleUrl, ...product })
  await writeProductFile(productFile, product, own)
  const parts = [...product.apis, ...product.workers]
  const ports = parts.flatMap(({ metricsPort }) => metricsPort ?? [])
  // Board and console start after this, with the next two.
  const metricsPorts = ports.flatMap((port, index) =>
    index < ports.length - 1 ? port : [port, port + 1, port + 2],
  )
  console.log(describeProduct({ baseUrl, directory, shown: shortenPath(directory), metricsPorts }))
  await Promise.race([startPages(product, pages, demo.token, living), whenAborted(interrupted)])
  if (isWatching)
    await followEdits(interrupted, (edit) =>
      restartChanged(edit, product, { board: boardSettings(pages), console: own }, living),
    )
  else await whenAborted(interrupted)
}

/** Start after everything else, so that a user who only wants to try the API need not wait for them. */
async function startPages(product: Product, pages: Pages, bearer: string, living: LivingParts) {
  const { CONSOLE_URL: consoleUrl, CONSOLE_SECRET: secret } = pages.console
  const { url, user, password } = pages.board
  const startBoard = async () => {
    living.add(await product.startBoard(boardSettings(pages)))
    console.log(`\nQueue board: ${url}, user ${user}, password ${password}`)
  }
  await Promise.all([
    startBoard(),
    product.startConsole(pages.console).then((started) => living.add(started)),
  ])
  const link = await mintLink({ consoleUrl, secret, bearer, lifetimeSeconds: linkMinutes * 60 })
  console.log(`
Console: ${link}

This link signs you in once, within ${linkMinutes} minutes. Another one: npm run console`)
}

function boardSettings({ board, console: { CONSOLE_URL } }: Pages): BoardSettings {
  return { BOARD_PASSWORD: board.password, BOARD_PORT: new URL(board.url).port, CONSOLE_URL }
}
