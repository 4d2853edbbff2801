import type { NewApiKey, NewSigningSecret, Workspace } from '@automation/access'
import { makeTemporaryDirectory, startProduct } from '@automation/launcher'
import t from 'tap'
import { runJson, runProcess } from '../fixtures/run.js'

async function getJson(url: string, headers: Record<string, string>) {
  const response = await fetch(url, { headers })
  return { status: response.status, body: (await response.json()) as { data: { id: string }[] } }
}

t.test(
  'webhooks are accepted with a secret from the command line, once, and listed with its API key',
  async (t) => {
    const { path, remove } = await makeTemporaryDirectory()
    const product = await startProduct({ directory: path, durable: false })
    t.teardown(async () => {
      await product.stop()
      await remove()
    })
    const url = product.apis[0]?.baseUrl
    const ask = <Value>(line: string) => runJson<Value>('admin', line, path, product.env)
    const { id } = await ask<Workspace>('workspaces create --name Acme --admin ada')
    const [secret, { key }, token] = await Promise.all([
      ask<NewSigningSecret>(`secrets create --workspace ${id} --provider billing`),
      ask<NewApiKey>(`keys create --workspace ${id} --name CI --scopes receipts:read`),
      runProcess('admin', 'tokens mint --user ada', path, product.env),
    ])

    const target = `--url ${url} --workspace ${id} --provider billing --secret-id ${secret.id}`
    const send = (options: string) =>
      runProcess('webhook', `send ${target} ${options}`.trim(), path, { WEBHOOK_SECRET: secret.secret })
    const replay = await send('--replay')
    t.match(replay, {
      code: 0,
      errors: '',
      output: /^202 .*"deduplicated":false.*\n200 .*"deduplicated":true.*\n$/,
    })
    t.same(await send('--copies 20'), { code: 0, errors: '', output: '202 × 1, 200 × 19\n' })
    t.match(await send('--tampered'), { code: 0, errors: '', output: /^401 / })
    t.match(await send('--stale'), { code: 0, errors: '', output: /^401 / })
    t.match(await send('--provider other'), { code: 1, errors: /^Expected 202 or 200, but got 401 / })

    const receipts = await getJson(`${url}/api/developer/v1/webhook-receipts?provider=billing`, {
      authorization: `Bearer ${key}`,
    })
    t.equal(receipts.status, 200)
    t.equal(receipts.body.data.length, 2)
    t.match(replay.output, receipts.body.data[1]?.id)
    const rules = await getJson(`${url}/api/automation-rules`, {
      authorization: `Bearer ${token.output.trim()}`,
      'x-workspace-id': id,
    })
    t.equal(rules.status, 200)

    const own = { RULES_URL: url ?? '', RULES_TOKEN: token.output.trim(), RULES_WORKSPACE: id }
    await runProcess('client', `secrets revoke ${secret.id} --yes`, path, own)
    t.match(await send(''), { code: 1, errors: /got 401/ }, 'a revoked secret is refused')
  },
)
