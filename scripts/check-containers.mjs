// Runs docker-compose.yml on the container engine of this machine, under load:
//
//   npm run check:containers
//
// It uses the `docker` that is on the PATH (with DOCKER_HOST and DOCKER_CONFIG, if they are set), a project, an image and ports of its
// own, and removes all of them at the end. NODE_IMAGE, POSTGRES_IMAGE, REDIS_IMAGE, MAILPIT_IMAGE and BUILD_NETWORK replace those of the
// file. Without an engine it is skipped.
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { findEngineFault, findFreePort, newSecret, Project } from './containers/compose.mjs'
import { Workspace } from './containers/workspace.mjs'

const workers = 3
const callers = 16
const eventsBeforeDown = 300
/** pino's `error`. */
const errorLevel = 50

const fault = await findEngineFault()
if (fault !== undefined) {
  console.log(`Skipped: there is no container engine with Compose 2 here (${fault}).`)
  process.exit(0)
}

const project = new Project({
  COMPOSE_PROFILES: 'board,console',
  PORT: await findFreePort(),
  BOARD_PORT: await findFreePort(),
  CONSOLE_PORT: await findFreePort(),
  MAILPIT_PORT: await findFreePort(),
  BOARD_PASSWORD: newSecret(),
  CONSOLE_SECRET: newSecret(),
  JWT_SECRET: newSecret(),
  ENCRYPTION_KEY: newSecret(),
  RATE_LIMIT_AUTHENTICATED: '1000000/1000000',
})
const origin = `http://127.0.0.1:${project.settings.PORT}`
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => project.remove().finally(() => process.exit(1)))
try {
  await check()
  console.log('The containers work.')
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  await step('Removing all of it', () => project.remove())
}

async function check() {
  await step('Building the image', () => project.compose('build', '--quiet', 'api'))
  await step('Missing settings are reported', checkSettings)
  const exits = project.followExits()
  await step('Starting', start)
  const logs = project.follow(
    'compose',
    'logs',
    '--follow',
    '--no-color',
    '--no-log-prefix',
    'api',
    'worker',
    'board',
    'console',
  )
  await step('Containers have no root user, no capabilities and a read-only root', checkConfinement)
  await step('The board asks for a login', checkBoard)
  await step('A link signs in to the console once', checkConsole)
  await step('The documentation is a site', checkDocs)
  const workspace = await Workspace.create(project, origin)
  await step('One event sends one mail', async () => {
    await workspace.sendEvent()
    const { begun, succeeded } = await workspace.waitForExecutions(60_000)
    const isDone = begun === 1 && succeeded === 1
    assert.ok(isDone, `begun ${begun}, succeeded ${succeeded}. ${await workspace.describeFailures()}`)
  })
  await step('Ending under load', () => endUnderLoad(workspace))
  await step('Each process ended in order', async () => checkExits(exits))
  await step('Each line of the logs is JSON, without an error', async () => checkLogs(logs))
  await step('Starting again', start)
  await step('All executions succeeded', () => checkExecutions(workspace))
  await step('Building the image of backup and restore', () =>
    project.compose('--profile', 'admin', 'build', '--quiet', 'admin'),
  )
  await step('A backup is restored into an empty database', restore)
  await step('Starting on the restored database', start)
  await step('It has the same executions', () => checkExecutions(workspace))
}

/** docker compose itself knows of one. A process reports all that it lacks, and exits. */
async function checkSettings() {
  const settings = project.settings
  const tryWithout = async (name, ...args) => {
    const { [name]: _, ...others } = settings
    project.settings = others
    const result = await project.tryCompose(...args)
    project.settings = settings
    assert.notEqual(result.code, 0, `${name} was missing, and nothing reported it`)
    assert.match(result.error, new RegExp(name))
  }
  await tryWithout('ENCRYPTION_KEY', 'config', '--quiet')
  const run = ['run', '--rm', '--no-deps', '--quiet-pull']
  await tryWithout('JWT_SECRET', ...run, 'api')
  await tryWithout('BOARD_PASSWORD', ...run, 'board')
  await tryWithout('CONSOLE_SECRET', ...run, 'console')
}

function start() {
  return project.compose('up', '--no-build', '--detach', '--wait', '--scale', `worker=${workers}`)
}

async function checkConfinement() {
  const look =
    "id -u; grep CapEff /proc/self/status; grep -o ' / [^ ]* r[ow],' /proc/mounts | grep -o 'r[ow],'"
  for (const service of ['api', 'worker', 'board', 'console']) {
    const seen = await project.compose('exec', '-T', service, 'sh', '-c', look)
    assert.match(seen, /^1000\nCapEff:\s0+\nro,\n$/)
  }
  const listed = await project.compose('ps', '--quiet', 'worker')
  assert.equal(listed.trim().split('\n').length, workers)
}

async function checkBoard() {
  const { BOARD_PORT, BOARD_PASSWORD } = project.settings
  const authorization = `Basic ${Buffer.from(`operator:${BOARD_PASSWORD}`).toString('base64')}`
  const ask = (headers) => fetch(`http://127.0.0.1:${BOARD_PORT}/api/queues`, { headers })
  assert.equal((await ask({})).status, 401)
  assert.equal((await ask({ authorization })).status, 200)
}

/** The command line runs in the container of the API. */
async function checkConsole() {
  const url = `http://127.0.0.1:${project.settings.CONSOLE_PORT}`
  const link = await project.admin('console', 'link', '--user', 'checker')
  assert.ok(link.url.startsWith(`${url}/enter#`))
  const enter = () =>
    fetch(`${url}/session/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify({ key: link.url.split('#')[1] }),
    })
  const entered = await enter()
  assert.equal(entered.status, 204)
  assert.equal((await enter()).status, 401)
  const cookie = entered.headers.getSetCookie()[0].split(';')[0]
  assert.equal((await fetch(`${url}/api/me`, { headers: { cookie } })).status, 200)
}

async function checkDocs() {
  const ask = (path) => fetch(`${origin}/docs/${path}`)
  assert.match(await (await ask('')).text(), /"\/docs\/assets\/app\./)
  for (const path of ['reference/rules', 'api/', 'openapi.json', 'llms.txt', 'images/concepts.svg'])
    assert.equal((await ask(path)).status, 200, path)
  assert.equal((await ask('none')).status, 404)
}

/** `down` while callers send events: mails are in progress in each worker. */
async function endUnderLoad(workspace) {
  const sending = workspace.sendEvents(callers)
  await workspace.waitForAccepted(eventsBeforeDown)
  await project.compose('down')
  await sending
  return { remark: `${workspace.accepted} events accepted` }
}

function checkExits(exits) {
  const ended = exits
    .map((line) => JSON.parse(line))
    .map((attributes) => [attributes['com.docker.compose.service'], attributes.exitCode])
    .filter(([service]) => ['api', 'worker', 'board', 'console'].includes(service))
  assert.deepEqual(
    ended.filter(([, code]) => code !== '0'),
    [],
  )
  assert.equal(ended.length, workers + 3)
}

function checkLogs(logs) {
  assert.ok(logs.length > 0)
  // docker compose adds a line for each container that ends.
  for (const line of logs.filter((line) => !/-\d+ exited with code \d+$/.test(line))) {
    const { level } = readJson(line) ?? assert.fail(`not JSON: ${line}`)
    assert.ok(level < errorLevel, line)
  }
}

function readJson(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

async function checkExecutions(workspace) {
  const { begun, succeeded, failed, cancelled, imbalance } = await workspace.waitForExecutions(120_000)
  const faults = { failed, cancelled, imbalance }
  const isFaultless = Object.values(faults).every((count) => count === 0)
  assert.ok(isFaultless, `${JSON.stringify(faults)} of ${begun}. ${await workspace.describeFailures()}`)
  assert.equal(succeeded, begun)
  // An API that ended may have accepted events whose responses nobody received.
  assert.ok(succeeded >= workspace.accepted, `${succeeded} of ${workspace.accepted}`)
  return { remark: `${failed} of ${begun} failed` }
}

/** The commands of docs/operate/backup.md. The backup belongs to the user of this check, and nobody else can read it. */
async function restore() {
  const { uid, gid } = userInfo()
  const admin = ['run', '--rm', '--user', `${uid}:${gid}`, 'admin']
  const backup = await project.compose(...admin, 'backup', 'automation.dump')
  const { mode } = statSync(join(project.backups, 'automation.dump'))
  assert.equal((mode & 0o777).toString(8), '600')
  const refused = await project.tryCompose(...admin, 'restore', 'automation.dump')
  assert.notEqual(refused.code, 0, 'a database in use was overwritten')
  await project.compose('stop', 'api', 'worker', 'board', 'console')
  const inPostgres = ['exec', '-T', 'postgres']
  const rename = 'ALTER DATABASE automation RENAME TO before_restore'
  await project.compose(...inPostgres, 'psql', '-U', 'automation', '-d', 'postgres', '-c', rename)
  await project.compose(...inPostgres, 'createdb', '-U', 'automation', 'automation')
  await project.compose('exec', '-T', 'redis', 'redis-cli', 'flushall')
  const restored = await project.compose(...admin, 'restore', 'automation.dump')
  const [events] = /\d+ events/.exec(backup) ?? assert.fail(backup)
  assert.match(restored, new RegExp(`^Restored ${events},`, 'm'))
  return { remark: events }
}

/** Prints one line with the seconds that it took, and what came of it. */
async function step(title, work) {
  const startedAt = performance.now()
  process.stdout.write(`${title} … `)
  try {
    const result = await work()
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    process.stdout.write(`${seconds} s${result?.remark === undefined ? '' : `, ${result.remark}`}\n`)
  } catch (error) {
    process.stdout.write('failed\n')
    throw error
  }
}
