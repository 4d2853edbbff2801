import {
  type ApiKey,
  createSealer,
  hashApiKey,
  type NewApiKey,
  type NewSigningSecret,
  type SigningSecret,
  sealingContext,
} from '@automation/access'
import { newId } from '@automation/database'
import t from 'tap'
import { run, runJson } from './fixtures/run.js'
import { startSite } from './fixtures/site.js'

const directory = t.testdir()
const { database, product, openWorkspace } = await startSite()
const env = { ENCRYPTION_KEY: product.encryptionKey }
const askAdmin = <Value>(line: string) => runJson<Value>('admin', line, directory, env)

t.test('a key is shown once and works until it is revoked', async (t) => {
  const { id, ask, client } = await openWorkspace(directory)
  const fields = '--name CI --scopes rules:write,receipts:read'
  const expected = { name: 'CI', scopes: ['rules:write', 'receipts:read'], state: 'active' }
  const keys = await Promise.all([
    askAdmin<NewApiKey>(`keys create --workspace ${id} ${fields} --expires-in 90d`),
    ask<NewApiKey>(`keys create ${fields} --expires-in 90d`),
  ])
  for (const key of keys) {
    t.match(key, expected)
    const days = (Date.parse(key.expiresAt ?? '') - Date.now()) / 86_400_000
    t.ok(days > 89.9 && days < 90.1)
    const row = await database.system.apiKey.findUnique({ where: { id: key.id } })
    t.same(row?.hash, new Uint8Array(hashApiKey(key.key)))
  }
  const shown = await Promise.all([
    run('admin', `keys create --workspace ${id} ${fields}`, directory, env),
    client(`keys create ${fields}`),
  ])
  for (const one of shown)
    t.match(one, {
      code: 0,
      output: /^expiresAt +-\n[\s\S]*^key +ark_\S+$[\s\S]*Save the key now: it cannot be shown again/m,
    })
  const revoked = await client(`keys revoke ${keys[1].id} --yes`)
  t.match(revoked, { code: 0, output: `The API key ${keys[1].id} is revoked.\n` })
  const [list, listed, unknown] = await Promise.all([
    client('keys list'),
    ask<ApiKey[]>('keys list --limit 10'),
    client(`keys revoke ${newId()} --yes`),
  ])
  t.match(list.output, new RegExp(`${keys[1].id} +CI +rules:write,receipts:read +revoked`))
  t.notMatch(list.output, 'ark_')
  t.equal(listed.length, 4)
  t.match(unknown, { code: 1, output: '', errors: /^Target: .*\nThe API responded 404 / })
})

t.test('a secret that a provider has made is stored from a file, with its scheme and settings', async (t) => {
  const { id, ask, client } = await openWorkspace(directory)
  const file = t.testdir({ 'stripe.txt': 'whsec_of_stripe\n', 'next.txt': 'whsec_next' })
  const settings = '{"types":{"lead":"LEAD_CREATED"}}'
  const fields = (provider: string) =>
    `--provider ${provider} --scheme stripe --settings ${settings} --secret-file ${file}/stripe.txt`
  const read = async ({ id }: { id: string }) => {
    const row = await database.system.signingSecret.findUniqueOrThrow({ where: { id } })
    return createSealer(product.encryptionKey).open(row.sealed, sealingContext(row)).toString()
  }
  const byAdmin = await askAdmin<NewSigningSecret>(`secrets create --workspace ${id} ${fields('one')}`)
  const secret = await ask<NewSigningSecret>(`secrets create ${fields('pay')}`)
  for (const one of [byAdmin, secret]) {
    t.match(one, { scheme: 'stripe', settings: JSON.parse(settings), secret: 'whsec_of_stripe' })
    t.equal(await read(one), 'whsec_of_stripe')
  }
  t.match(await ask<SigningSecret>(`secrets set ${secret.id} --secret-file ${file}/next.txt`), {
    scheme: 'stripe',
  })
  t.equal(await read(secret), 'whsec_next')
  t.match(await client(`secrets set ${secret.id}`), { code: 1, errors: /responded 422 / })
  t.match(await client(`secrets set ${secret.id} --settings {"hash":"sha1"}`), {
    code: 1,
    errors: /Must be omitted for the scheme stripe/,
  })
  t.match(await client(`secrets set ${secret.id} --settings {hash}`), { code: 64, errors: /not valid JSON/ })
  t.match(await run('admin', `secrets create --workspace ${id} --provider pay`, directory, env), {
    code: 1,
    errors: /have the scheme stripe/,
  })
})

t.test('a signing secret is shown once, sealed, retired and revoked', async (t) => {
  const { id, ask, client } = await openWorkspace(directory)
  // An id in capitals is the same workspace, and the API must be able to decrypt what is sealed for it.
  const create = `secrets create --workspace ${id.toUpperCase()} --provider`
  const secret = await askAdmin<NewSigningSecret>(`${create} billing`)
  t.match(secret, { provider: 'billing', state: 'active', secret: /^whsec_/ })
  const row = await database.system.signingSecret.findUniqueOrThrow({ where: { id: secret.id } })
  const opened = createSealer(product.encryptionKey).open(
    row.sealed,
    sealingContext({ id: row.id, workspaceId: id }),
  )
  t.equal(`whsec_${opened.toString('base64')}`, secret.secret)

  const [shown, retired] = await Promise.all([
    client('secrets create --provider crm'),
    ask<SigningSecret>(`secrets retire ${secret.id} --overlap 2h`),
  ])
  t.match(shown.output, /^secret +whsec_\S+$[\s\S]*Save the secret now: it cannot be shown again/m)
  t.equal(retired.state, 'retiring')
  t.ok(Math.abs(Date.parse(retired.retiresAt ?? '') - Date.now() - 7_200_000) < 60_000)
  const [ofOne, ofAll] = await Promise.all([
    ask<SigningSecret[]>('secrets list --provider billing'),
    ask<SigningSecret[]>('secrets list'),
  ])
  t.same(ofOne, [retired])
  t.equal(ofAll.length, 2)
  t.match(await client(`secrets revoke ${secret.id} --yes`), { code: 0, output: /is revoked\.\n$/ })
  const late = await client(`secrets retire ${secret.id}`)
  t.match(late, { code: 1, errors: /The signing secret was revoked/ })
})
