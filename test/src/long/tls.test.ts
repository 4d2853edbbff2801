import { execFile, spawn, spawnSync } from 'node:child_process'
import { chownSync, copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  createPrivateDatabase,
  findFreePort,
  makeTemporaryDirectory,
  startPostgres,
  startRedis,
} from '@automation/launcher'
import { Redis } from 'ioredis'
import pg from 'pg'
import t from 'tap'
import { startOwnProcess } from '../fixtures/own-process.js'

if (spawnSync('openssl', ['version']).status !== 0) {
  t.plan(0, 'there is no openssl to make certificates with')
  process.exit(0)
}

const directory = await makeTemporaryDirectory()
t.teardown(() => directory.remove())
const ca = await makeCertificates(`${directory.path}/certificates`)
const [postgres, redis] = await Promise.all([openPostgres(), openRedis()])
const migrateCommand = fileURLToPath(
  new URL('../../../../packages/database/dist/src/migrate-command.js', import.meta.url),
)

/** A private CA, and a certificate of 127.0.0.1. @returns the file of the CA's certificate */
async function makeCertificates(home: string): Promise<string> {
  mkdirSync(home)
  const openssl = (line: string) => promisify(execFile)('openssl', line.split(' '), { cwd: home })
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  await openssl(`req -x509 ${key} -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca`)
  await openssl(`req ${key} -keyout server.key -out server.csr -subj /CN=localhost`)
  writeFileSync(`${home}/names`, 'subjectAltName=DNS:localhost,IP:127.0.0.1')
  await openssl(
    'x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile names',
  )
  return `${home}/ca.pem`
}

/** Copies the server's certificate and key to where the server may read them. */
function hand(data: string): { cert: string; key: string } {
  const { uid, gid } = statSync(data)
  const [cert = '', key = ''] = ['server.pem', 'server.key'].map((name) => {
    copyFileSync(`${directory.path}/certificates/${name}`, `${data}/${name}`)
    chownSync(`${data}/${name}`, uid, gid)
    return `${data}/${name}`
  })
  return { cert, key }
}

/** @returns the URL of a database on a server that also speaks TLS */
async function openPostgres(): Promise<string> {
  const server = await startPostgres({ directory: `${directory.path}/postgres`, durable: false })
  t.teardown(() => server.stop())
  const { cert, key } = hand(`${server.directory}/data`)
  await query(server.url, `ALTER SYSTEM SET ssl_cert_file = '${cert}'`)
  await query(server.url, `ALTER SYSTEM SET ssl_key_file = '${key}'`)
  await query(server.url, 'ALTER SYSTEM SET ssl = on')
  await query(server.url, 'SELECT pg_reload_conf()')
  return createPrivateDatabase(server.url)
}

/** @returns the URL of a server that also speaks TLS */
async function openRedis(): Promise<string> {
  const server = await startRedis({ directory: `${directory.path}/redis`, persistent: false })
  t.teardown(() => server.stop())
  const { cert, key } = hand(`${server.directory}/data`)
  const admin = new Redis(server.url)
  const url = new URL(server.url.replace('redis:', 'rediss:'))
  url.port = `${await findFreePort()}`
  const settings = {
    'tls-cert-file': cert,
    'tls-key-file': key,
    'tls-auth-clients': 'no',
    'tls-port': url.port,
  }
  await admin.config('SET', ...Object.entries(settings).flat())
  admin.disconnect()
  return url.href
}

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<Row>(sql)
  await client.end()
  return rows
}

/** Connects with the settings that every process has. */
async function connect(parameters: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [migrateCommand], {
    env: { DATABASE_URL: `${postgres}${parameters}`, ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { code, output }
}

t.test('sslmode says how Postgres is reached, and what is wrong is one line', async (t) => {
  const trust = `sslrootcert=${ca}`
  const right = { code: 0, output: 'The database is up to date.\n' }
  const refused = /^The database could not be migrated: [^\n]*certificate[^\n]*\n$/
  for (const parameters of [
    '',
    '?sslmode=disable',
    '?sslmode=no-verify',
    `?sslmode=verify-full&${trust}`,
    `?sslmode=verify-ca&${trust}`,
    `?sslmode=require&${trust}`,
    '?uselibpqcompat=true&sslmode=require',
  ])
    t.same(await connect(parameters), right, parameters)
  t.same(
    await connect('?sslmode=verify-full', { NODE_EXTRA_CA_CERTS: ca }),
    right,
    'the CA of all connections',
  )
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
    t.match(await connect(`?sslmode=${mode}`), { code: 1, output: refused }, mode)
  t.match(await connect('?sslmode=verify-full&sslrootcert=/nowhere/ca.pem'), {
    code: 1,
    output: /^The database could not be migrated: ENOENT[^\n]*\/nowhere\/ca\.pem[^\n]*\n$/,
  })
})

t.test('a worker reaches both over TLS, and says what it does not trust', async (t) => {
  const env = {
    DATABASE_URL: `${postgres}?sslmode=verify-full&application_name=worker`,
    REDIS_URL: redis,
    ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  }
  const stranger = await startOwnProcess(t, 'worker', env)
  await stranger.says(
    /Postgres is unavailable \([^)]*certificate\); Redis is unavailable \([^)]*certificate\)/,
  )
  stranger.stop()
  const worker = await startOwnProcess(t, 'worker', { ...env, NODE_EXTRA_CA_CERTS: ca })
  await worker.says(/worker ready/)
  const lines = await query<{ ssl: boolean }>(
    postgres,
    `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'worker'`,
  )
  t.not(lines.length, 0)
  t.ok(lines.every(({ ssl }) => ssl))
  worker.stop()
  t.match(await worker.exited, { code: 0 })
})
