import { randomBytes } from 'node:crypto'
import {
  createSealer,
  createSigningSecret,
  createWorkspace,
  resealSecrets,
  revokeSigningSecret,
  type Sealer,
  sealingContext,
} from '@automation/access'
import { openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t, { type Test } from 'tap'
import { run } from './fixtures/run.js'

const newKey = () => randomBytes(32).toString('base64')
const [oldKey, newestKey] = [newKey(), newKey()]
const [old, newest] = [createSealer(oldKey), createSealer(newestKey)]
const rotating = `${newestKey},${oldKey}`

/** A database of its own with a workspace: the command seals all secrets of a database. */
async function openSite(t: Test) {
  const url = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
  const { host, pathname } = new URL(url)
  const database = openPatiently(url, 2)
  t.teardown(() => database.close())
  const { id: workspaceId } = await createWorkspace(
    { database, actor: 'cli:test' },
    { name: 'Acme', adminUserId: 'ada' },
  )
  const administrator = { database, actor: 'cli:test', workspaceId }
  const reseal = (line: string, ENCRYPTION_KEY: string) =>
    run('admin', `secrets reseal${line}`, t.testdir(), { DATABASE_URL: url, ENCRYPTION_KEY })
  return {
    target: `Target: database ${pathname.slice(1)} on ${host} (from DATABASE_URL)\n`,
    database,
    reseal,
    makeSecret: async (sealer: Sealer, isRevoked = false) => {
      const { id, secret } = await createSigningSecret(administrator, sealer, { provider: 'billing' })
      if (isRevoked) await revokeSigningSecret(administrator, id)
      return { id, secret }
    },
    /** The secret, if this sealer opens it. */
    open: async (id: string, sealer: Sealer) => {
      const row = await database.system.signingSecret.findUniqueOrThrow({ where: { id } })
      return `whsec_${sealer.open(row.sealed, sealingContext(row)).toString('base64')}`
    },
  }
}

t.test('all secrets are sealed with the first key, and a second run has nothing to do', async (t) => {
  const { makeSecret, open, reseal, target } = await openSite(t)
  const secrets = [await makeSecret(old), await makeSecret(old, true), await makeSecret(newest)]
  t.same(await reseal(' --plan', rotating), {
    code: 2,
    errors: target,
    output: '2 of 3 secrets would be encrypted again with the first key of ENCRYPTION_KEY.\n',
  })
  t.equal(await open(secrets[0]?.id ?? '', old), secrets[0]?.secret, 'a plan changes nothing')

  t.same(await reseal('', rotating), {
    code: 0,
    errors: target,
    output: 'Encrypted 2 of 3 secrets again with the first key of ENCRYPTION_KEY.\n',
  })
  for (const { id, secret } of secrets) t.equal(await open(id, newest), secret)
  t.match(await reseal('', rotating), { code: 0, output: /^Encrypted 0 of 3 / })
  t.match(await reseal(' --plan', newestKey), { code: 0, output: /^0 of 3 / }, 'the old key can go')
})

t.test('secrets that do not open are listed and left alone, and the others are sealed', async (t) => {
  const { makeSecret, open, reseal } = await openSite(t)
  const lost = createSealer(newKey())
  const [unopened, other] = [await makeSecret(lost), await makeSecret(old)]
  const listed = `1 cannot be decrypted with any key of ENCRYPTION_KEY:\n${unopened.id}\n`
  t.match(await reseal(' --plan', rotating), { code: 1, output: new RegExp(`^1 of 2 .*\n${listed}$`) })
  t.match(await reseal('', rotating), { code: 1, output: new RegExp(`^Encrypted 1 of 2 .*\n${listed}$`) })
  t.equal(await open(unopened.id, lost), unopened.secret)
  t.equal(await open(other.id, newest), other.secret)
  const { code, output } = await reseal(' --json', rotating)
  t.equal(code, 1)
  t.same(JSON.parse(output), {
    applied: true,
    secrets: 2,
    resealed: 0,
    changed: 0,
    unopened: [unopened.id],
  })
})

t.test('what somebody else changes meanwhile is not overwritten', async (t) => {
  const { database, makeSecret, open, reseal } = await openSite(t)
  const { id } = await makeSecret(old)
  const other = createSealer(newKey())
  const find = () => database.system.signingSecret.findUniqueOrThrow({ where: { id } })
  const interrupted = Object.assign(Object.create(database), {
    system: database.system.$extends({
      query: {
        signingSecret: {
          async updateMany({ args, query }) {
            const sealed = other.seal(randomBytes(32), sealingContext(await find()))
            await database.system.signingSecret.update({ where: { id }, data: { sealed } })
            return query(args)
          },
        },
      },
    }),
  })
  t.same(await resealSecrets(interrupted, createSealer(rotating), false), {
    secrets: 1,
    resealed: 0,
    changed: 1,
    unopened: [],
  })
  t.ok(await open(id, other))
  t.match(await reseal('', rotating), { code: 1, output: id })
})

t.test('more than a batch is sealed, each secret once, also by two runs at the same time', async (t) => {
  const { database, makeSecret, reseal } = await openSite(t)
  const { id } = await makeSecret(old)
  const { workspaceId } = await database.system.signingSecret.findUniqueOrThrow({ where: { id } })
  const rows = Array.from({ length: 1_200 }, (_, index) => {
    const id = `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`
    return {
      id,
      workspaceId,
      provider: 'billing',
      sealed: old.seal(Buffer.alloc(32), sealingContext({ id, workspaceId })),
    }
  })
  await database.system.signingSecret.createMany({ data: rows })
  const sealer = createSealer(rotating)
  const runs = await Promise.all([
    resealSecrets(database, sealer, false),
    resealSecrets(database, sealer, false),
  ])
  t.equal(runs[0].resealed + runs[1].resealed, 1_201)
  t.strictSame(
    runs.map(({ secrets }) => secrets),
    [1_201, 1_201],
  )
  t.match(await reseal(' --plan', newestKey), { code: 0, output: /^0 of 1201 / })
})

t.test('without ENCRYPTION_KEY, or with an impossible one, nothing is done', async (t) => {
  const { reseal } = await openSite(t)
  t.match(await reseal('', ''), { code: 1, output: '', errors: /ENCRYPTION_KEY is required/ })
  t.match(await reseal('', `${newestKey},`), {
    code: 1,
    output: '',
    errors: /ENCRYPTION_KEY is not valid \(/,
  })
})
