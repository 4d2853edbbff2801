// A product whose customers edit rules of their own in it: `npm run embed`, beside `npm start`.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [customersFile = '.data/customers.json', port = '4000'] = process.argv.slice(2)
const { baseUrl, consoleUrl, keys } = JSON.parse(readFileSync(customersFile, 'utf8'))
const page = readFileSync(new URL('page.html', import.meta.url), 'utf8').replaceAll('CONSOLE_URL', consoleUrl)
const pages = ['rules', 'executions', 'events', 'tasks']
const users = {
  ada: { name: 'Ada', customer: 'Acme', may: { role: 'editor', pages, publish: true } },
  bo: { name: 'Bo', customer: 'Globex', may: { role: 'editor', pages, allow: { actions: ['CREATE_TASK'] } } },
}

/** Calls the service with the key of one customer, which stays here. */
const post = (customer, path, body) =>
  fetch(`${baseUrl}/api/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys[customer]}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

createServer(async (request, response) => {
  // Your own sign-in: here a cookie says who it is, and everybody may be anybody.
  const [, id = 'ada'] = /\buser=(ada|bo)\b/.exec(request.headers.cookie ?? '') ?? []
  const { name, customer, may } = users[id]
  const route = `${request.method} ${request.url.replace(/\?.*/, '')}`
  const [, chosen] = /^POST \/sign-in\/(ada|bo)$/.exec(route) ?? []
  if (chosen) response.setHeader('set-cookie', `user=${chosen}; HttpOnly; SameSite=Strict; Path=/`)
  if (route === 'POST /rules-session') {
    const answer = await post(customer, 'developer/v1/embed-sessions', { user: { id, name }, ...may })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  } else if (route === 'POST /deals') {
    await post(customer, 'events', { eventType: 'DEAL_WON', data: { name: 'A new deal', amount: 20_000 } })
    response.writeHead(303, { location: '/' }).end()
  } else if (chosen) response.writeHead(303, { location: '/' }).end()
  else response.setHeader('content-type', 'text/html').end(page.replace('USER', `${name} of ${customer}`))
}).listen(port, 'localhost', () => console.log(`http://localhost:${port}`))
