import { randomBytes } from 'node:crypto'
import {
  type ApiKey,
  createSealer,
  createWorkspace,
  hashApiKey,
  type NewApiKey,
  type NewSigningSecret,
  type SigningSecret,
  sealingContext,
} from '@automation/access'
import { newId, openDatabase } from '@automation/database'
import t from 'tap'
import { type Run, run, runJson } from './fixtures/run.js'

const directory = t.testdir()
const encryptionKey = randomBytes(32).toString('base64')
const env = { ENCRYPTION_KEY: encryptionKey }
const admin = (line: string): Promise<Run> => run('admin', line, directory, env)
const ask = <Value>(line: string): Promise<Value> => runJson<Value>('admin', line, directory, env)

const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

const makeWorkspace = () =>
  createWorkspace({ database, actor: 'cli:test' }, { name: 'Acme', adminUserId: 'ada' })

t.test('a key is shown once and works until it is revoked', async (t) => {
  const { id } = await makeWorkspace()
  const create = `keys create --workspace ${id} --name CI --scopes rules:write,receipts:read`
  const key = await ask<NewApiKey>(`${create} --expires-in 90d`)
  const expected = { name: 'CI', scopes: ['rules:write', 'receipts:read'], state: 'active' }
  t.match(key, expected)
  const days = (Date.parse(key.expiresAt ?? '') - Date.now()) / 86_400_000
  t.ok(days > 89.9 && days < 90.1)
  const row = await database.system.apiKey.findUnique({ where: { id: key.id } })
  t.same(row?.hash, new Uint8Array(hashApiKey(key.key)))

  const shown = await admin(create)
  t.match(shown, {
    code: 0,
    output: /^expiresAt +-\n[\s\S]*^key +ark_\S+$[\s\S]*Save the key now: it cannot be shown again/m,
  })
  const revoked = await ask<ApiKey>(`keys revoke ${key.id} --yes`)
  t.match(revoked, { ...expected, state: 'revoked' })
  const [list, elsewhere, unknown] = await Promise.all([
    admin(`keys list --workspace ${id}`),
    admin(`keys revoke ${key.id} --workspace ${newId()} --yes`),
    admin(`keys revoke ${id} --yes`),
  ])
  t.match(list.output, new RegExp(`${key.id} +CI +rules:write,receipts:read +revoked`))
  t.notMatch(list.output, 'ark_')
  t.match(elsewhere, { code: 1, errors: new RegExp(`^There is no API key ${key.id} in workspace `) })
  t.same(unknown, { code: 1, output: '', errors: `There is no API key ${id}.\n` })
})

t.test('a secret that a provider has made is stored from a file, with its scheme and settings', async (t) => {
  const { id } = await makeWorkspace()
  const file = t.testdir({ 'stripe.txt': 'whsec_of_stripe\n', 'next.txt': 'whsec_next' })
  const settings = '{"types":{"lead":"LEAD_CREATED"}}'
  const create = `secrets create --workspace ${id} --provider pay --scheme stripe --settings ${settings}`
  const secret = await ask<NewSigningSecret>(`${create} --secret-file ${file}/stripe.txt`)
  t.match(secret, { scheme: 'stripe', settings: JSON.parse(settings), secret: 'whsec_of_stripe' })
  const read = async () => {
    const row = await database.system.signingSecret.findUniqueOrThrow({ where: { id: secret.id } })
    return createSealer(encryptionKey).open(row.sealed, sealingContext(row)).toString()
  }
  t.equal(await read(), 'whsec_of_stripe')
  t.match(await ask<SigningSecret>(`secrets set ${secret.id} --secret-file ${file}/next.txt`), {
    scheme: 'stripe',
  })
  t.equal(await read(), 'whsec_next')
  t.match(await admin(`secrets set ${secret.id}`), {
    code: 64,
    errors: /Give --secret-file, --settings, or both/,
  })
  t.match(await admin(`secrets set ${secret.id} --settings {"hash":"sha1"}`), {
    code: 1,
    errors: /Must be omitted for the scheme stripe/,
  })
  t.match(await admin(`secrets create --workspace ${id} --provider pay`), {
    code: 1,
    errors: /have the scheme stripe/,
  })
})

t.test('a signing secret is shown once, sealed, retired and revoked', async (t) => {
  const { id } = await makeWorkspace()
  // An id in capitals is the same workspace, and the API must be able to decrypt what is sealed for it.
  const create = `secrets create --workspace ${id.toUpperCase()} --provider`
  const secret = await ask<NewSigningSecret>(`${create} billing`)
  t.match(secret, { provider: 'billing', state: 'active', secret: /^whsec_/ })
  const row = await database.system.signingSecret.findUniqueOrThrow({ where: { id: secret.id } })
  const opened = createSealer(encryptionKey).open(row.sealed, sealingContext({ id: row.id, workspaceId: id }))
  t.equal(`whsec_${opened.toString('base64')}`, secret.secret)

  const [shown, retired] = await Promise.all([
    admin(`${create} crm`),
    ask<SigningSecret>(`secrets retire ${secret.id} --overlap 2h`),
  ])
  t.match(shown.output, /^secret +whsec_\S+$[\s\S]*Save the secret now: it cannot be shown again/m)
  t.equal(retired.state, 'retiring')
  t.ok(Math.abs(Date.parse(retired.retiresAt ?? '') - Date.now() - 7_200_000) < 60_000)
  const [ofOne, ofAll] = await Promise.all([
    ask<SigningSecret[]>(`secrets list --workspace ${id} --provider billing`),
    ask<SigningSecret[]>(`secrets list --workspace ${id}`),
  ])
  t.same(ofOne, [retired])
  t.equal(ofAll.length, 2)
  t.match(await ask<SigningSecret>(`secrets revoke ${secret.id} --yes`), { state: 'revoked' })
  const late = await admin(`secrets retire ${secret.id}`)
  t.match(late, { code: 1, errors: '\nThe signing secret was revoked.\n' })
})
