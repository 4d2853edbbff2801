import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type Api, mint, rules, startApi } from '../fixtures/api.js'
import { drawOneIn } from '../fixtures/draw-one-in.js'
import { asymmetric, claims } from '../fixtures/forge.js'
import { type Forgery, makeForgeries } from '../fixtures/security/forgeries.js'

const api = await startApi(t)
const { id, users } = await api.makeWorkspace()
const user = users.admin

t.test('no forged token is accepted with a shared secret', async (t) => {
  const good = await mint(user)
  await refuseAll(t, api, good, makeForgeries(good, user, []))
})

t.test('no forged token is accepted with published keys', async (t) => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const ed = generateKeyPairSync('ed25519')
  const keys = [
    { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa' },
    { ...ed.publicKey.export({ format: 'jwk' }), kid: 'ed' },
  ]
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys })),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const own = await startApi(t, { JWT_SECRET: undefined, JWKS_URL: `http://127.0.0.1:${port}/keys.json` })
  const publicKeys = [rsa.publicKey, ed.publicKey]
  for (const good of [
    asymmetric('RS256', 'rsa', rsa.privateKey)({}, claims(user)),
    asymmetric('EdDSA', 'ed', ed.privateKey)({}, claims(user)),
  ])
    await refuseAll(t, own, good, makeForgeries(good, user, publicKeys))
})

async function refuseAll(t: Test, { call }: Api, good: string, forgeries: Forgery[]): Promise<void> {
  const ask = (token: string) => call('GET', rules, { token, workspace: id })
  t.equal((await ask(good)).status, 200, 'the original token is accepted')
  const wrong: unknown[] = []
  const drawn = drawOneIn(3, forgeries)
  for (const [title, token] of drawn) {
    const { status, body } = await ask(token)
    if (status !== 401 || JSON.stringify(body) !== '{"error":"Authentication required"}')
      wrong.push({ title, status, body })
  }
  t.strictSame(wrong, [])
  t.comment(`${drawn.length} of ${forgeries.length} forged tokens`)
  t.ok(forgeries.length >= 60)
}
