import t from 'tap'
import { readConfig } from '../src/config.js'
import { settings } from './fixtures/board.js'

const required = { ...settings, REDIS_URL: 'redis://unused' }

t.test('a board with a short password does not start', async (t) => {
  const error = t.throws(() =>
    readConfig({ REDIS_URL: 'redis://unused', BOARD_PASSWORD: 'eleven-long' }),
  ) as unknown as Error
  t.match(
    error.message,
    /BOARD_PASSWORD must not have fewer than 12 characters .*the board is off until it is set/,
  )
  t.notMatch(error.message, /eleven-long/, 'and does not tell the password')
})

t.test('by default it is read-only, and reachable only from this machine', async (t) => {
  t.match(readConfig(required), {
    allowsWrites: false,
    host: '127.0.0.1',
    port: 3002,
    consoleUrl: undefined,
    trustProxy: false,
  })
})

t.test('it listens on the address of the other processes', async (t) => {
  t.equal(readConfig({ ...required, HOST: '0.0.0.0' }).host, '0.0.0.0')
})

t.test('the URL of the console has no path, and a trailing slash makes no difference', async (t) => {
  for (const CONSOLE_URL of ['https://console.example', 'https://console.example/'])
    t.equal(readConfig({ ...required, CONSOLE_URL }).consoleUrl, 'https://console.example')
  for (const CONSOLE_URL of [
    'javascript:alert(1)',
    'console.example',
    'https://console.example/?x',
    'http://localhost:3000-3001',
  ])
    t.throws(() => readConfig({ ...required, CONSOLE_URL }), /CONSOLE_URL must be a URL/)
})
