import t from 'tap'
import { readConfig } from '../src/config.js'
import { settings } from './fixtures/board.js'

const required = { ...settings, REDIS_URL: 'redis://unused' }

t.test('a board without a login, or with a short password, reports what is missing', async (t) => {
  const error = t.throws(() =>
    readConfig({ REDIS_URL: 'redis://unused', BOARD_PASSWORD: 'eleven-long' }),
  ) as unknown as Error
  t.match(error.message, /BOARD_USER is required \(user name of the login.*the board is off until/)
  t.match(error.message, /BOARD_PASSWORD must not have fewer than 12 characters/)
  t.notMatch(error.message, /eleven-long/, 'and does not tell the password')
})

t.test('by default it is read-only, at the root, and reachable only from this machine', async (t) => {
  t.match(readConfig(required), {
    allowsWrites: false,
    basePath: '',
    host: '127.0.0.1',
    port: 3002,
    apiUrl: undefined,
    trustProxy: false,
  })
})

t.test('trailing slashes of paths and URLs make no difference', async (t) => {
  for (const [path, basePath] of [
    ['/', ''],
    ['/board', '/board'],
    ['/ops/board/', '/ops/board'],
  ]) {
    t.equal(readConfig({ ...required, BOARD_BASE_PATH: path }).basePath, basePath)
  }
  t.equal(
    readConfig({ ...required, BOARD_API_URL: 'https://rules.example/' }).apiUrl,
    'https://rules.example',
  )
  t.equal(
    readConfig({ ...required, BOARD_CONSOLE_URL: 'https://console.example/' }).consoleUrl,
    'https://console.example',
  )
})

t.test('it listens on the address of the other processes, or on its own', async (t) => {
  t.equal(readConfig({ ...required, HOST: '0.0.0.0' }).host, '0.0.0.0')
  t.equal(readConfig({ ...required, HOST: '0.0.0.0', BOARD_HOST: '10.0.0.1' }).host, '10.0.0.1')
})

t.test('an invalid path or URL is refused', async (t) => {
  for (const BOARD_BASE_PATH of ['board', '//evil.example', '/a b', '/a?b'])
    t.throws(() => readConfig({ ...required, BOARD_BASE_PATH }), /BOARD_BASE_PATH must match/)
  for (const BOARD_API_URL of ['javascript:alert(1)', 'rules.example', 'https://rules.example/?x'])
    t.throws(() => readConfig({ ...required, BOARD_API_URL }), /BOARD_API_URL must be a URL/)
  // What PORT=3000-3001 once made of it in docker-compose.yml.
  t.throws(
    () => readConfig({ ...required, BOARD_API_URL: 'http://localhost:3000-3001' }),
    /BOARD_API_URL must be a URL/,
  )
})
