import t from 'tap'
import { readConfig } from '../src/config.js'
import { secret } from './fixtures/console.js'

const read = (env: Record<string, string>) => () => readConfig({ CONSOLE_SECRET: secret, ...env })

t.test('only a secret is required', async (t) => {
  t.match(read({})(), { port: 3003, host: '127.0.0.1', trustsBearer: false })
  t.throws(() => readConfig({}), /CONSOLE_SECRET is required/)
})

t.test('without https it refuses to serve anybody but this machine', async (t) => {
  for (const host of ['127.0.0.1:3003', 'localhost', '[::1]:80'])
    t.ok(read({ CONSOLE_URL: `http://${host}` })(), host)
  for (const host of ['console.example', '10.0.0.5', '127.0.0.1.evil.example'])
    t.throws(read({ CONSOLE_URL: `http://${host}` }), /must begin with https/, host)
  t.ok(read({ CONSOLE_URL: 'https://console.example' })())
})

t.test('only a console of this machine knows where the board is', async (t) => {
  t.equal(read({ BOARD_PORT: '3002' })().boardUrl, 'http://127.0.0.1:3002')
  for (const env of [{}, { BOARD_PORT: '0' }, { BOARD_PORT: '3002', CONSOLE_URL: 'https://console.example' }])
    t.equal(read(env as Record<string, string>)().boardUrl, undefined)
})

t.test('half an identity provider, and a trusted bearer of anybody, are refused', async (t) => {
  t.throws(read({ CONSOLE_OIDC_ISSUER: 'https://id.example' }), /must be set together/)
  t.throws(read({ CONSOLE_TRUST_BEARER: 'true' }), /TRUST_PROXY is required/)
})
