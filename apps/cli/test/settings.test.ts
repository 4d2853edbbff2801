import { spawnSync } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { copyFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { NewSigningSecret, Workspace } from '@automation/access'
import { newId, openPatiently } from '@automation/database'
import t, { type Test } from 'tap'
import { run, runJson } from './fixtures/run.js'

const databaseUrl = process.env.DATABASE_URL ?? ''
const encryptionKey = randomBytes(32).toString('base64')
const secret = 'a secret of tests with more than # 32 characters'
const none = {
  DATABASE_URL: '',
  JWT_SECRET: '',
  JWKS_URL: '',
  JWT_ISSUER: '',
  JWT_AUDIENCE: '',
  ENCRYPTION_KEY: '',
}

const productFile = `DATABASE_URL=${databaseUrl}
REDIS_URL=redis://127.0.0.1:6379
JWT_SECRET='${secret}'
JWT_ISSUER=automation-rules
JWT_AUDIENCE=automation-rules
ENCRYPTION_KEY=${encryptionKey}
`

/** What a token says, if its signature is right. */
function readToken(t: Test, token: string, secret: string): Record<string, unknown> {
  const [header = '', payload = '', signature] = token.trim().split('.')
  const expected = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
  t.equal(signature, expected)
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
}

t.test('a token is created with the secret, issuer and audience of the API', async (t) => {
  const directory = t.testdir()
  const env = { ...none, DATABASE_URL: databaseUrl, JWT_SECRET: secret }
  const user = `user-${newId()}`
  const mint = `tokens mint --user ${user}`
  const [plain, long, foreign] = await Promise.all([
    run('admin', mint, directory, env),
    runJson<{ token: string }>('admin', `${mint} --expires-in 2d`, directory, env),
    run('admin', mint, directory, { ...env, JWT_ISSUER: 'us', JWT_AUDIENCE: 'them' }),
  ])
  t.match(plain, { code: 0, output: /^[\w.-]+\n$/ }, 'the token and nothing else')
  const noEntry = `${user} is a member of no workspace, so no audit log has an entry of the token.`
  t.match(plain.errors, new RegExp(`^Target: .*\n${noEntry}\n$`))
  const { iat, exp, ...claims } = readToken(t, plain.output, secret)
  t.same(claims, { sub: user, iss: 'automation-rules', aud: 'automation-rules' })
  t.equal(Number(exp) - Number(iat), 3_600)
  const { iat: longFrom, exp: longTo } = readToken(t, long.token, secret)
  t.equal(Number(longTo) - Number(longFrom), 172_800)
  t.match(readToken(t, foreign.output, secret), { iss: 'us', aud: 'them' })
})

t.test('of several secrets, the first signs tokens', async (t) => {
  const keys = `${secret.toUpperCase()}, ${secret}`
  const env = { ...none, DATABASE_URL: databaseUrl, JWT_SECRET: keys }
  const { output } = await run('admin', 'tokens mint --user grace', t.testdir(), env)
  t.match(readToken(t, output, secret.toUpperCase()), { sub: 'grace' })
})

t.test('no token is created that the API would not accept', async (t) => {
  const directory = t.testdir()
  const mint = (env: Record<string, string>) =>
    run('admin', 'tokens mint --user grace', directory, { ...none, ...env })
  const [jwks, nothing, short, homeless] = await Promise.all([
    mint({ JWKS_URL: 'https://id.example.com/keys' }),
    mint({}),
    mint({ JWT_SECRET: 'short' }),
    mint({ JWT_SECRET: secret }),
  ])
  t.match(jwks, { code: 1, output: '', errors: /^JWKS_URL is set: tokens come from its identity provider/ })
  t.match(nothing, {
    code: 1,
    errors: 'Set JWT_SECRET to the value that the API uses, or run npm start first.\n',
  })
  t.match(homeless, { code: 1, output: '', errors: /^Set DATABASE_URL, / }, 'its entry would have no place')
  t.match(short, { code: 1, errors: /JWT_SECRET is not valid \(HS256 secret of 32 characters or more/ })
})

t.test('settings that the environment lacks come from the product that npm start runs', async (t) => {
  const directory = t.testdir({ '.data': { 'product.env': productFile } })
  const create = 'workspaces create --name A --admin ada'
  const { id } = await runJson<Workspace>('admin', create, directory, none)
  const [secretMade, token, ownToken, sameDatabase] = await Promise.all([
    runJson<NewSigningSecret>('admin', `secrets create --workspace ${id} --provider a`, directory, none),
    run('admin', 'tokens mint --user grace', directory, none),
    run('admin', 'tokens mint --user grace', directory, {
      ...none,
      JWT_SECRET: secret.toUpperCase(),
    }),
    run('admin', 'tokens mint --user grace', directory, { ...none, DATABASE_URL: databaseUrl }),
  ])
  t.match(secretMade, { secret: /^whsec_/ })
  t.match(readToken(t, token.output, secret), { sub: 'grace' })
  t.match(
    readToken(t, ownToken.output, secret.toUpperCase()),
    { sub: 'grace' },
    'the environment comes first',
  )
  t.match(readToken(t, sameDatabase.output, secret), { sub: 'grace' })
})

t.test('with another database, no setting comes from that product', async (t) => {
  const directory = t.testdir({ '.data': { 'product.env': productFile } })
  const env = { ...none, DATABASE_URL: `${databaseUrl}?application_name=other` }
  const { id } = await runJson<Workspace>('admin', 'workspaces create --name A --admin a', directory, env)
  const made = await run('admin', `secrets create --workspace ${id} --provider a`, directory, env)
  t.match(made, { code: 1, output: '', errors: /ENCRYPTION_KEY is required/ })
})

t.test('an unusable database is reported in one sentence', async (t) => {
  const directory = t.testdir()
  const list = (url: string) => run('admin', 'workspaces list', directory, { DATABASE_URL: url })
  const name = `empty_${newId().replaceAll('-', '')}`
  const database = openPatiently(databaseUrl, 1)
  await database.system.$executeRawUnsafe(`CREATE DATABASE ${name}`)
  await database.close()
  const [unset, away, absent, empty, noUrl, other, socket, clear, noFile] = await Promise.all([
    list(''),
    list('postgresql://127.0.0.1:1/automation'),
    list(new URL('/unknown', databaseUrl).href),
    list(new URL(`/${name}`, databaseUrl).href),
    list('postgresql://user:password@:5432/name'),
    list('mysql://127.0.0.1/automation'),
    list('postgresql://user:password@/automation?host=/nowhere'),
    list(`${databaseUrl}?sslmode=require`),
    list(`${databaseUrl}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`),
  ])
  t.same(unset, { code: 1, output: '', errors: 'Set DATABASE_URL, or run npm start first.\n' })
  t.match(away, {
    code: 1,
    errors:
      /^Cannot connect to Postgres at 127\.0\.0\.1:1: [^\n]*127\.0\.0\.1:1\. Check that it is running, [^\n]*\n$/,
  })
  t.match(absent, { code: 1, errors: /Cannot connect to Postgres at .*: Database `unknown` does not exist/ })
  t.same(empty, {
    code: 1,
    output: '',
    errors: 'The database has not been migrated: run npm run migrate first.\n',
  })
  t.match(noUrl, {
    code: 1,
    output: '',
    errors: /^Invalid environment:\n {2}DATABASE_URL must be a URL [^\n]*\n$/,
  })
  t.match(other, { code: 1, errors: /DATABASE_URL must be a URL/ })
  t.match(socket, { code: 1, errors: /^Cannot connect to Postgres at \/nowhere: [^\n]*\n$/ })
  t.match(clear, { code: 1, errors: /^Cannot [^\n]*The server does not support SSL connections[^\n]*\n$/ })
  t.match(noFile, { code: 1, errors: /^Cannot [^\n]*ENOENT[^\n]*\/nowhere\/ca\.pem[^\n]*\n$/ })
  for (const { errors } of [away, absent, other]) t.notMatch(errors, / at .*:\d+:\d+/)
})

t.test('a clone that is not built reports what to do', async (t) => {
  const directory = t.testdir()
  await copyFile(fileURLToPath(new URL('../../run.mjs', import.meta.url)), `${directory}/run.mjs`)
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${directory}/run.mjs`, 'admin'], {
    encoding: 'utf8',
  })
  t.same({ status, stdout }, { status: 1, stdout: '' })
  t.equal(stderr, 'The product is not built yet: run `npm start` once, or `npm ci && npm run build`.\n')
})
