import { createSealer, credentialContext } from '@automation/access'
import { type Database, DatabaseBusy } from '@automation/database'
import type { Effect } from '@automation/engine'
import t from 'tap'
import { AccessTokens } from '../src/effects/credentials/access-tokens.js'
import { CredentialFiller } from '../src/effects/credentials/credential-filler.js'
import type { OpenCredential } from '../src/effects/credentials/open-credential.js'
import { context } from './fixtures/outbound.js'

const encryptionKey = Buffer.alloc(32).toString('base64')
const parts: OpenCredential['parts'] = { kind: 'oauth2', hosts: ['api.example.com'] }
const ids = { id: 'c', workspaceId: 'w' }
const sealed = createSealer(encryptionKey).seal(Buffer.from(JSON.stringify(parts)), credentialContext(ids))
const credential: OpenCredential = { ...ids, name: 'API', token: undefined, sealed, parts }
const uses = [{ name: 'API', field: 'headers', isWhole: true }]
const action = { type: 'SEND_WEBHOOK', of: { index: 0, credentials: uses }, config: {} } as never
const unauthorized: Effect = {
  status: 'failed',
  error: 'HTTP 401',
  output: { statusCode: 401 },
  isFinal: true,
}

t.test('if Postgres is unavailable once a call was made, that call is the attempt', async (t) => {
  let finds = 0
  const tokens = {
    async find() {
      if (++finds !== 2) throw new DatabaseBusy()
      return { token: { id: '1', text: 'token-1' } }
    },
  }
  const filler = new CredentialFiller({ find: async () => credential, forget: () => {} }, tokens, () => ({
    links: {},
  }))
  let calls = 0
  const fill = () =>
    filler.fill(action, context, 5_000, async () => {
      calls++
      return unauthorized
    })
  await t.rejects(fill())
  t.equal(calls, 0)
  t.strictSame(await fill(), { ...unauthorized, isFinal: false })
  t.equal(calls, 1)
})

t.test('a receiver that refuses each token makes no later call look for another one', async (t) => {
  const forgotten: string[] = []
  const known = { ...credential, token: { id: '0', text: 'token-0' } }
  const tokens = {
    find: async (_: unknown, refused?: string) => ({ token: { id: refused ? '1' : '0', text: 'token' } }),
  }
  const filler = new CredentialFiller(
    { find: async () => known, forget: ({ name }) => forgotten.push(name) },
    tokens,
    () => ({ links: {} }),
  )
  const answers: Effect[] = [unauthorized, unauthorized, unauthorized, { status: 'success' }]
  const fill = () => filler.fill(action, context, 5_000, async () => answers.shift() ?? unauthorized)
  await fill()
  t.strictSame(forgotten, [], 'the token that was refused may be as good as the next one')
  await fill()
  t.strictSame(forgotten, ['API'], 'the next one was better')
})

t.test('a receiver that repeats the refused token, or the next one, is told as a placeholder', async (t) => {
  const tokens = {
    find: async (_: unknown, refused?: string) => ({
      token: refused ? { id: '1', text: 'token-next' } : { id: '0', text: 'token-first' },
    }),
  }
  const filler = new CredentialFiller({ find: async () => credential, forget: () => {} }, tokens, () => ({
    links: {},
  }))
  const effect = await filler.fill(action, context, 5_000, async (_, { scrubber }) => {
    const echo = scrubber.scrub('Not token-first, but token-next')
    return { ...unauthorized, error: 'HTTP 401: token-first token-next', output: { statusCode: 401, echo } }
  })
  const shown = '{{credentials.API}}'
  t.match(effect, {
    error: `HTTP 401: ${shown} ${shown}`,
    output: { echo: `Not ${shown}, but ${shown}` },
  })
})

t.test('a credential is for its hosts alone, not for those whose names are like theirs', async (t) => {
  const tokens = { find: async () => ({ token: { id: '0', text: 'token' } }) }
  const filler = new CredentialFiller({ find: async () => credential, forget: () => {} }, tokens, () => ({
    links: {},
  }))
  let allowed: string[] = []
  const urls = [
    'https://api.example.com/',
    'https://API.example.com.:8443/evilapi.example.com',
    'https://evilapi.example.com/',
    'https://evil-api.example.com/',
    'https://evil.api.example.com/',
    'https://example.com/',
    'https://api.example.com.evil.com/',
    'https://api.example.comevil.com/',
    'https://api.example.com@evil.com/',
    'https://evil.com/api.example.com',
    'https://evil.com/?api.example.com#api.example.com',
    'https://api-example.com/',
    'https://apiXexample.com/',
  ]
  await filler.fill(action, context, 5_000, async (_, { findHostFault }) => {
    allowed = urls.filter((url) => findHostFault(url) === undefined)
    return { status: 'success' }
  })
  t.strictSame(allowed, urls.slice(0, 2))
})

t.test('a token that cannot be stored is used, and the next worker requests another one', async (t) => {
  const statements: string[] = []
  const database = {
    async run(name: string) {
      statements.push(name)
      if (name === 'store_token') throw new DatabaseBusy()
      return name === 'lease_token' ? [{ ...ids, name: 'API', sealed, token: null, isLeased: true }] : []
    },
  } as unknown as Database
  const tokens = new AccessTokens(database, encryptionKey, async () => ({ text: 'token-1', usableMs: 1_000 }))
  t.match(await tokens.find(credential), { token: { text: 'token-1' } })
  t.strictSame(statements, ['lease_token', 'store_token', 'return_token_lease'])
})
