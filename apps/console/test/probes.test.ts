import t from 'tap'
import { openApiInTrouble } from './fixtures/api-in-trouble.js'
import { startConsole } from './fixtures/console.js'

t.test('however many ask for the readiness, the API is asked once a second', async (t) => {
  const api = await openApiInTrouble(t, (_request, response) => response.end('{}'))
  const { app } = await startConsole(t, { CONSOLE_API_URL: api.url })
  const since = performance.now()
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.inject('/readyz')))
    for (const { statusCode } of answers) if (statusCode !== 200) t.fail(`${statusCode}`)
  }
  const seconds = (performance.now() - since) / 1_000
  t.ok(api.count() <= 1 + seconds, `${api.count()} in ${seconds} s`)
})

t.test('an API that is mute or not ready makes the console unready, and it stays alive', async (t) => {
  const unready = await openApiInTrouble(t, (_request, response) => response.writeHead(503).end('{}'))
  const mute = await openApiInTrouble(t)
  for (const { url } of [unready, mute]) {
    const { app } = await startConsole(t, { CONSOLE_API_URL: url })
    const response = await app.inject('/readyz')
    t.equal(response.statusCode, 503)
    t.same(response.json(), { status: 'unready', api: 'away' })
    t.equal((await app.inject('/healthz')).statusCode, 200)
  }
})
