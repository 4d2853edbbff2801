import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { createSealer, createSigningSecret } from '@automation/administration'
import t from 'tap'
import { encryptionKey, startApi } from './fixtures/api.js'
import { makeSender, provider } from './fixtures/sender.js'

const root = new URL('../../../../', import.meta.url)
const page = await readFile(new URL('docs/signing.md', root), 'utf8')
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
  t.test(`the page’s first ${language} sender is accepted as it stands`, async (t) => {
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

interface Vector {
  name: string
  secret: string
  id: string
  timestamp: string
  body?: string
  bodyBase64?: string
  signature: string
  valid: boolean
}

t.test('the published vectors pass the signature here, and are refused for their age alone', async (t) => {
  const vectors = JSON.parse(await readFile(new URL('docs/signing-vectors.json', root), 'utf8')) as Vector[]
  const administrator = { database: api.app.database, workspaceId: workspace.id, actor: 'cli:tests' }
  const sealer = createSealer(encryptionKey)
  for (const { name, secret, id, timestamp, body, bodyBase64, signature, valid } of vectors) {
    const { id: secretId } = await createSigningSecret(administrator, sealer, { provider }, secret)
    const answer = await api.call<{ error: string }>('POST', path, {
      body: bodyBase64 === undefined ? body : Buffer.from(bodyBase64, 'base64'),
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
