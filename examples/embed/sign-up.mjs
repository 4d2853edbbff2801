// What the sign-up of your product does once for each customer: a workspace and its key. Some of what has happened at the customer is there, too.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const [demoFile = '.data/demo.json', customersFile = '.data/customers.json'] = process.argv.slice(2)
if (!existsSync(demoFile)) fail('There is no demo yet: run `npm start` in another terminal.')
const { baseUrl, consoleUrl } = JSON.parse(readFileSync(demoFile, 'utf8'))
if (!existsSync(customersFile)) {
  const operatorKey = makeOperatorKey()
  const keys = {
    Acme: await signUp(operatorKey, 'Acme', 'ada'),
    Globex: await signUp(operatorKey, 'Globex', 'bo'),
  }
  writeFileSync(customersFile, JSON.stringify({ baseUrl, consoleUrl, keys }), { mode: 0o600 })
}

/** You make one yourself, and keep it as a secret of the sign-up. */
function makeOperatorKey() {
  const command = ['run', '-s', 'admin', '--', 'operator-keys', 'create', '--name', 'sign-up', '--json']
  try {
    return JSON.parse(execFileSync('npm', command, { stdio: ['ignore', 'pipe', 'inherit'] })).key
  } catch {
    fail('No key of the operator could be made: does `npm start` run in another terminal?')
  }
}

async function signUp(operatorKey, name, adminUserId) {
  const apiKey = { name: 'backend', scopes: ['embed', 'rules:write'] }
  const workspace = await post(operatorKey, 'developer/v1/workspaces', { name, adminUserId, apiKey })
  for (const amount of [900, 12_000, 48_000])
    await post(workspace.apiKey.key, 'events', {
      eventType: 'DEAL_WON',
      data: { name: `${name} ${amount}`, amount },
    })
  return workspace.apiKey.key
}

async function post(key, path, body) {
  const response = await fetch(`${baseUrl}/api/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) fail(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
