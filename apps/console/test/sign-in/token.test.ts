import type { ServerResponse } from 'node:http'
import { startPatientClock } from '@automation/launcher/patient-clock'
import t from 'tap'
import { openApiInTrouble, until } from '../fixtures/api-in-trouble.js'
import { type Console, startConsole } from '../fixtures/console.js'

const enter = ({ ask }: Console, token: string, remoteAddress = '10.0.0.1') =>
  ask('/session/token', { method: 'POST', payload: { token }, remoteAddress })

t.test('of a hundred guesses at the same time, sixteen reach the API', async (t) => {
  const held: ServerResponse[] = []
  const api = await openApiInTrouble(t, (_request, response) => void held.push(response))
  const console = await startConsole(t, { CONSOLE_API_URL: api.url })
  const statuses: number[] = []
  const guesses = Array.from({ length: 100 }, async (_, i) =>
    statuses.push((await enter(console, `guess-${i}`)).statusCode),
  )
  await until(() => held.length + statuses.length >= 100)
  t.strictSame(statuses, Array(84).fill(429))
  for (const response of held) response.writeHead(401).end()
  await Promise.all(guesses)
  t.strictSame(statuses.slice(84), Array(16).fill(401))
  t.equal(api.count(), 16)
})

t.test('the API learns the address of who guesses, and its 429 is handed back', async (t) => {
  const addresses: unknown[] = []
  const api = await openApiInTrouble(t, (request, response) => {
    addresses.push(request.headers['x-forwarded-for'])
    response.writeHead(429, { 'retry-after': '7' }).end()
  })
  const console = await startConsole(t, { CONSOLE_API_URL: api.url })
  const response = await enter(console, 'guess', '203.0.113.9')
  t.equal(response.statusCode, 429)
  t.equal(response.headers['retry-after'], '7')
  t.same(response.json(), { error: 'The API has received too many requests. Try again in 7 seconds.' })
  t.strictSame(addresses, ['203.0.113.9'])
})

t.test('while the API is away nobody fails: the right token is not delayed afterwards', async (t) => {
  const console = await startConsole(t, { CONSOLE_API_URL: 'http://127.0.0.1:1' })
  const clock = startPatientClock()
  for (let i = 0; i < 12; i++) {
    const response = await enter(console, 'token')
    t.equal(response.statusCode, 503)
    t.equal(response.headers['retry-after'], '2')
    t.same(response.json(), { error: 'The API does not respond. Try again in a moment.' })
  }
  t.ok(clock() < 2_900, `${clock()} ms`)
})

t.test('sixteen tokens are checked at a time, however many addresses ask', async (t) => {
  const api = await openApiInTrouble(t)
  const console = await startConsole(t, { CONSOLE_API_URL: api.url })
  for (let i = 0; i < 16; i++) void enter(console, 'token', `10.0.1.${i}`).catch(() => {})
  await until(() => api.open.size === 16)
  const response = await enter(console, 'token', '10.0.2.1')
  t.equal(response.statusCode, 503)
  t.equal(api.count(), 16)
})
