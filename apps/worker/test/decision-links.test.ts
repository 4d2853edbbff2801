import { readdir, readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { createDecisionTokens } from '@automation/access'
import { executionIdOf } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'
import { serve } from './fixtures/outbound.js'

const encryptionKey = Buffer.alloc(32, 'links').toString('base64')
const variables = { ENCRYPTION_KEY: encryptionKey, CONSOLE_URL: 'https://rules.example.com' }
const shown = '{{decision.links.approve}}'
const ask = (more: object = {}) => ({
  type: 'WAIT',
  config: { decision: { options: ['approve', 'reject'], within: '1d', ...more } },
})

const notify = (url: string, format: string) => ({
  type: 'SEND_NOTIFICATION',
  config: { url, format, text: `Approve: ${shown}` },
})

async function begin(harness: Harness, actions: object[], data: object = {}) {
  const ruleId = await harness.createRule(actions)
  const event = harness.newEvent('LEAD_CREATED')
  await harness.inbox.accept({ ...event, data })
  return executionIdOf(event, ruleId)
}

t.test('a link is in what is sent, and in nothing that is stored, also if it is echoed', async (t) => {
  const harness = await createHarness(t, variables)
  const server = await serve(t, (_request, response) => {
    response.writeHead(403, { 'content-type': 'application/json' }).end(server.calls.at(-1)?.body)
  })
  harness.startWorker()
  const call = (body: object) => ({
    type: 'SEND_WEBHOOK',
    config: { url: server.url, body, capture: { echo: 'body.link' } },
    continueOnError: true,
  })
  const id = await begin(harness, [call({ link: shown }), call({ name: '{{name}}' }), ask()], { name: shown })
  const { results } = await harness.untilStatus(id, 'waiting')
  const of = { workspaceId: harness.workspaceId, executionId: id }
  const token = createDecisionTokens(encryptionKey).make(of)
  const link = `https://rules.example.com/decide/${harness.workspaceId}/${id}/${token}/approve`
  t.match(
    server.calls.map(({ body }) => JSON.parse(String(body))),
    [{ link }, { name: shown }],
    'data that looks like a link is none',
  )
  const echo = link.replace(token, '{{decision.links}}')
  matchLists(t, results as object[], [
    { output: { statusCode: 403, body: JSON.stringify({ link: echo }) }, captured: { echo } },
    { status: 'failed' },
    { status: 'scheduled' },
  ])
  t.notMatch(JSON.stringify(results), token)
})

t.test('a mail has the link, and a chat of each format', async (t) => {
  const directory = t.testdir()
  const harness = await createHarness(t, { ...variables, SMTP_URL: pathToFileURL(directory).href })
  const server = await serve(t, (_request, response) => response.writeHead(200).end())
  harness.startWorker()
  const mail = {
    type: 'SEND_EMAIL',
    config: { to: 'a@example.com', subject: 'Please decide', template: 'ask', variables: { Approve: shown } },
  }
  const formats = ['slack', 'discord', 'teams', 'text']
  const id = await begin(harness, [mail, ...formats.map((format) => notify(server.url, format)), ask()])
  await harness.untilStatus(id, 'waiting')
  const token = createDecisionTokens(encryptionKey).make({
    workspaceId: harness.workspaceId,
    executionId: id,
  })
  const link = `https://rules.example.com/decide/${harness.workspaceId}/${id}/${token}/approve`
  const [file = ''] = await readdir(directory)
  const text = (await readFile(`${directory}/${file}`, 'utf8')).replaceAll('=\r\n', '').replaceAll('=\n', '')
  t.match(text, `Approve: ${link}`)
  for (const [index, { body }] of server.calls.entries()) t.match(String(body), link, `${formats[index]}`)
  t.equal(server.calls.length, formats.length)
})

t.test('the link of a decision that needs a role leads to the console', async (t) => {
  const harness = await createHarness(t, variables)
  const server = await serve(t, (_request, response) => response.writeHead(200).end())
  harness.startWorker()
  const roled = await begin(harness, [notify(server.url, 'text'), ask({ roles: ['operator'] })])
  await harness.untilStatus(roled, 'waiting')
  const place = `https://rules.example.com/w/${harness.workspaceId}/decisions?id=${roled}`
  t.match(String(server.calls.at(-1)?.body), `Approve: ${place}`)
})

t.test('without the address of the console no link can be made, and nothing is sent', async (t) => {
  const harness = await createHarness(t, { ENCRYPTION_KEY: encryptionKey })
  const server = await serve(t, (_request, response) => response.writeHead(200).end())
  harness.startWorker()
  const id = await begin(harness, [
    { type: 'SEND_NOTIFICATION', config: { url: server.url, text: shown } },
    ask(),
  ])
  const { error } = await harness.untilStatus(id, 'failed')
  t.match(error, /CONSOLE_URL of the workers is not set/)
  t.equal(server.calls.length, 0)
})
