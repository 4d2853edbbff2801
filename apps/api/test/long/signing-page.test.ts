import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { createSealer, createSigningSecret } from '@automation/access'
import { newSigningSecret, readSigningKey, signStandardWebhook, signWebhook } from '@automation/webhooks'
import { readSigningVectors } from '@automation/webhooks/signing-vectors'
import t from 'tap'
import { encryptionKey, startApi } from '../fixtures/api.js'
import { loadPageReceiver } from '../fixtures/page-receiver.js'
import { makeSender, provider } from '../fixtures/sender.js'

const root = new URL('../../../../../', import.meta.url)
const page = await readFile(new URL('docs/reference/signing.md', root), 'utf8')
const run = promisify(execFile)

const api = await startApi(t)
await api.app.listen({ host: '127.0.0.1', port: 0 })
const { port } = api.app.server.address() as { port: number }
const workspace = await api.makeWorkspace()
const sender = await makeSender(api, workspace)
const path = `/api/incoming-webhooks/${provider}/${workspace.id}`

const languages = {
  ts: { command: process.execPath, file: 'send.mjs', needs: [] },
  python: { command: 'python3', file: 'send.py', needs: ['python3'] },
  sh: { command: 'sh', file: 'send.sh', needs: ['openssl', 'curl'] },
}

for (const [language, { command, file, needs }] of Object.entries(languages)) {
  t.test(`the API accepts the page’s first ${language} sender unchanged`, async (t) => {
    for (const program of needs) {
      const isThere = await run('sh', ['-c', `command -v ${program}`]).then(
        () => true,
        () => false,
      )
      if (!isThere) return t.comment(`${program} is not on this machine`)
    }
    const code = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(page)?.[1]
    const directory = t.testdir()
    await writeFile(`${directory}/${file}`, code ?? 'the page has none')
    const { stdout } = await run(command, [`${directory}/${file}`], {
      env: {
        ...process.env,
        WEBHOOK_URL: `http://127.0.0.1:${port}${path}`,
        WEBHOOK_SECRET_ID: sender.secretId,
        WEBHOOK_SECRET: sender.secret,
      },
    })
    const [, status, answer = ''] = /^(\d+) (.*)$/m.exec(stdout) ?? []
    t.equal(status, '202')
    const { id } = JSON.parse(answer) as { id: string }
    const receipt = await workspace.database.webhookReceipt.findUnique({ where: { id } })
    t.strictSame(receipt?.eventTypes, ['WEBHOOK_RECEIVED', 'LEAD_CREATED'])
    const events = await workspace.database.event.findMany({ where: { id: { in: receipt?.eventIds ?? [] } } })
    t.ok(events.some(({ data }) => (data as { name?: string }).name === 'Zoë'))
  })
}

t.test('the published vectors have valid signatures, and are refused only for their age', async (t) => {
  const administrator = { database: api.app.database, workspaceId: workspace.id, actor: 'cli:tests' }
  const sealer = createSealer(encryptionKey)
  for (const { name, secret, id, timestamp, body, signature, valid } of await readSigningVectors()) {
    const { id: secretId } = await createSigningSecret(administrator, sealer, { provider, secret })
    const answer = await api.call<{ error: string }>('POST', path, {
      body,
      headers: {
        'x-idempotency-key': id,
        'x-timestamp': timestamp,
        'x-signature-id': secretId,
        'x-signature': signature,
      },
    })
    t.equal(answer.status, 401, name)
    t.equal(
      answer.body.error,
      valid ? 'Timestamp is outside the accepted window' : 'Authentication required',
      name,
    )
  }
})

t.test('the page’s receiver accepts its own vector, and no variation of it', async (t) => {
  const { isFromThem, vector } = await loadPageReceiver(t.testdir())
  const { secret, headers, body } = vector
  const now = Number(headers['webhook-timestamp'])
  const { 'webhook-id': id, 'webhook-signature': signature } = headers

  t.ok(isFromThem(secret, headers, body, now))
  t.ok(isFromThem(secret, headers, Buffer.from(body), now + 300))
  const several = `v1,${Buffer.alloc(32).toString('base64')} ${signature}`
  t.ok(isFromThem(secret, { ...headers, 'webhook-signature': several }, body, now), 'one of several is right')
  const hex = Buffer.from(signature.slice(3), 'base64').toString('hex')
  const parts = { id, timestamp: headers['webhook-timestamp'], body }
  t.strictSame(signStandardWebhook([readSigningKey(secret)], parts), headers, 'as our workers sign')
  t.equal(signWebhook(readSigningKey(secret), parts), `v1=${hex}`, 'the same is signed as of what comes in')
  for (const changes of [
    { 'webhook-id': `${id.slice(0, -1)}1` },
    { 'webhook-id': undefined },
    { 'webhook-timestamp': String(now + 1) },
    { 'webhook-timestamp': `${now}.0` },
    { 'webhook-timestamp': undefined },
    { 'webhook-signature': signature.replace('v1', 'v2') },
    { 'webhook-signature': signature.slice(3) },
    { 'webhook-signature': `v1,${hex}` },
    { 'webhook-signature': 'v1,' },
    { 'webhook-signature': undefined },
  ])
    t.notOk(isFromThem(secret, { ...headers, ...changes }, body, now), JSON.stringify(changes))
  t.notOk(isFromThem(secret, headers, `${body} `, now))
  t.notOk(isFromThem(newSigningSecret(), headers, body, now))
  for (const late of [now + 301, now - 301]) t.notOk(isFromThem(secret, headers, body, late))
  t.notOk(isFromThem(secret, headers, body), 'nor on any other day')
})
