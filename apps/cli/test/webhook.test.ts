import { writeFile } from 'node:fs/promises'
import { matchLists } from '@automation/launcher/match-lists'
import { type SchemeName, type SchemeSettings, useScheme, verifyByScheme } from '@automation/webhooks'
import t, { type Test } from 'tap'
import { startReceiver } from './fixtures/receiver.js'
import { run, runJson } from './fixtures/run.js'

interface Sent {
  url: string
  headers: Record<string, string>
  answers: { status: number; body: { id: string; deduplicated: boolean } }[]
}

/** A receiver, and a directory whose demo it is. */
async function startDemo(t: Test) {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const webhook = { provider: 'developer-fixture', secretId: 'a-secret', secret: receiver.secret }
  const demo = { baseUrl: receiver.url, workspaceId: 'a-workspace', webhook, token: 'none of its business' }
  const directory = t.testdir({ '.data': { 'demo.json': JSON.stringify(demo) } })
  return {
    ...receiver,
    directory,
    send: (options = '', env = {}) => run('webhook', `send ${options}`.trim(), directory, env),
    sendJson: (options = '') => runJson<Sent>('webhook', `send ${options}`.trim(), directory),
  }
}

t.test('without options a signed lead is sent to the demo', async (t) => {
  const { received, send } = await startDemo(t)
  const { code, output, errors } = await send()
  t.match({ code, errors }, { code: 0, errors: '' })
  t.match(output, /^202 \{"id":"[0-9a-f-]{36}","receiptState":"accepted","deduplicated":false\}\n$/)
  matchLists(t, received, [
    {
      path: '/api/incoming-webhooks/developer-fixture/a-workspace',
      headers: {
        'content-type': 'application/json',
        'x-idempotency-key': /^msg_\w+$/,
        'x-signature-id': 'a-secret',
        'x-signature': /^v1=[0-9a-f]{64}$/,
      },
    },
  ])
  t.equal(String(received[0]?.body), '{"type":"lead.created","data":{"name":"Ada","score":95}}')
})

t.test('a body comes from the command line, or byte for byte from a file', async (t) => {
  const { directory, received, send } = await startDemo(t)
  const bytes = Buffer.from('{ "name":\r\n"Zoë" }\n')
  await writeFile(`${directory}/body.json`, bytes)
  t.equal((await send('{"a":"ä"}')).code, 0)
  t.equal((await send('--file body.json')).code, 0)
  t.same(
    received.map(({ body }) => body),
    [Buffer.from('{"a":"ä"}'), bytes],
  )
  const [both, none] = await Promise.all([send('--file body.json {}'), send('--file none.json')])
  t.same(both, { code: 64, output: '', errors: 'Give either a body or --file, not both.\n' })
  t.match(none, { code: 1, errors: /^--file cannot be read: ENOENT/ })
})

t.test('a replay sends the same delivery, and gets the same receipt', async (t) => {
  const { received, sendJson } = await startDemo(t)
  const { answers, headers } = await sendJson('--replay --id evt_1 --verbose')
  matchLists(t, answers, [
    { status: 202, body: { deduplicated: false } },
    { status: 200, body: { deduplicated: true, id: answers[0]?.body.id } },
  ])
  t.equal(headers['x-idempotency-key'], 'evt_1')
  t.same(received[1]?.headers, received[0]?.headers)
  matchLists(t, await sendJson('--id evt_1'), { answers: [{ status: 200 }] }, 'and again the next time')
})

t.test('copies are sent at once and counted by their status', async (t) => {
  const { received, send, sendJson } = await startDemo(t)
  t.same(await send('--copies 50'), { code: 0, errors: '', output: '202 × 1, 200 × 49\n' })
  t.equal(new Set(received.map(({ headers }) => headers['x-idempotency-key'])).size, 1)
  t.equal((await sendJson('--copies 3')).answers.length, 3)
})

t.test('a tampered or stale delivery is expected to be refused', async (t) => {
  const { received, send, sendJson } = await startDemo(t)
  const tampered = await send('--tampered')
  t.same(tampered, { code: 0, errors: '', output: '401 {"error":"Authentication required"}\n' })
  matchLists(t, await sendJson('--stale'), { answers: [{ status: 401 }] })
  const [changed, stale] = received
  const differing = [...(changed?.body ?? [])].filter((byte, index) => byte !== stale?.body[index])
  t.equal(differing.length, 1, 'one byte')
  const ageSeconds = Date.now() / 1_000 - Number(stale?.headers['x-timestamp'])
  t.ok(ageSeconds >= 600 && ageSeconds < 660)
})

t.test('an unexpected response ends with exit code 1', async (t) => {
  const { send } = await startDemo(t)
  const other = `whsec_${Buffer.alloc(32).toString('base64')}`
  const refused = await send('', { WEBHOOK_SECRET: other })
  const body = '401 {"error":"Authentication required"}\n'
  t.same(refused, { code: 1, output: body, errors: `Expected 202 or 200, but got ${body}` })
})

t.test('with a target of its own a delivery needs no demo', async (t) => {
  const { url, secret, received } = await startDemo(t)
  const target = `--url ${url}/ --workspace w --provider p/q --secret-id s`
  const directory = t.testdir({ empty: {} })
  const verbose = await run('webhook', `send ${target} --verbose`, `${directory}/empty`, {
    WEBHOOK_SECRET: secret,
  })
  t.match(verbose, { code: 0, errors: '' })
  t.match(verbose.output, `POST ${url}/api/incoming-webhooks/p%2Fq/w\n`)
  for (const name of ['x-idempotency-key', 'x-timestamp', 'x-signature-id', 'x-signature'])
    t.match(verbose.output, `\n${name}: ${received[0]?.headers[name]}\n`)
  t.match(verbose.output, /\n\n202 \{/)
})

t.test('--scheme signs as a provider does', async (t) => {
  const { url, received, send } = await startDemo(t)
  const secret = 'a-secret-of-the-provider'
  const verifies = (scheme: SchemeName, settings: SchemeSettings = {}) => {
    const { headers, body } = received.at(-1) ?? { headers: {}, body: Buffer.alloc(0) }
    const isForm = headers['content-type'] !== 'application/json'
    return verifyByScheme(useScheme(scheme, settings), Buffer.from(secret), {
      headers,
      body,
      isForm,
      query: '',
    })
  }
  for (const scheme of ['stripe', 'github', 'shopify', 'slack', 'twilio'] as const) {
    // The receiver knows our own scheme alone.
    t.equal((await send(`--scheme ${scheme} --tampered`, { WEBHOOK_SECRET: secret })).code, 0, scheme)
    t.notOk(verifies(scheme, { publicUrl: `${url}/api/incoming-webhooks/twilio/a-workspace` }), scheme)
    await send(`--scheme ${scheme}`, { WEBHOOK_SECRET: secret })
    t.equal(received.at(-1)?.path, `/api/incoming-webhooks/${scheme}/a-workspace`)
    t.ok(verifies(scheme, { publicUrl: `${url}/api/incoming-webhooks/${scheme}/a-workspace` }), scheme)
  }
  await send('--scheme github --type push --provider our-github {}', { WEBHOOK_SECRET: secret })
  t.match(received.at(-1), {
    path: '/api/incoming-webhooks/our-github/a-workspace',
    headers: { 'x-github-event': 'push', 'x-github-delivery': /^msg_/ },
  })
  const settings = '{"signatureHeader":"X-Acme-Signature","signaturePrefix":"v=","hash":"sha1"}'
  await send(`--scheme generic --settings ${settings}`, { WEBHOOK_SECRET: secret })
  t.ok(verifies('generic', JSON.parse(settings) as SchemeSettings))
  t.match(await send('--scheme stripe'), { code: 64, errors: /needs the signing secret/ })
  t.match(await send('--scheme standard_webhooks', { WEBHOOK_SECRET: 'whsec_?' }), {
    code: 1,
    errors: /none of the scheme/,
  })
  t.match(await send('--scheme generic --settings {', { WEBHOOK_SECRET: secret }), {
    code: 64,
    errors: /must be JSON/,
  })
  t.match(await send('--scheme generic --settings {"a":1}', { WEBHOOK_SECRET: secret }), {
    code: 64,
    errors: /^--settings: /,
  })
  t.match(await send('--scheme paypal'), { code: 64, errors: /one of automation, standard_webhooks, stripe/ })
})

t.test('errors are reported in one sentence', async (t) => {
  const { directory, send } = await startDemo(t)
  const nowhere = await run('webhook', 'send', `${directory}/.data`)
  t.match(nowhere, {
    code: 1,
    output: '',
    errors: /^Run npm start first, which writes \.data\/demo\.json, or [^\n]*\n$/,
  })
  const faults: [string, number, RegExp][] = [
    [
      '--url http://127.0.0.1:9',
      1,
      /^No response from http:\/\/127\.0\.0\.1:9 \(.*\): run npm start first, or set --url\.$/,
    ],
    ['--url 127.0.0.1', 64, /^--url must look like/],
    ['--secret-file none.txt', 1, /^--secret-file cannot be read: ENOENT/],
    ['--id a/b', 64, /must be 1 to 255 letters, digits,/],
    ['--copies 0', 64, /must be at least 1\.$/],
    ['--stale --replay', 64, /^Option '--(stale|replay)' cannot be used with option '--(stale|replay)'$/],
  ]
  await Promise.all(
    faults.map(async ([options, code, errors]) => {
      const result = await send(options)
      t.match({ ...result, errors: result.errors.trimEnd() }, { code, output: '', errors }, options)
    }),
  )
})

t.test('a secret comes from the environment or a file, and never from the command line', async (t) => {
  const { directory, received, send, secret } = await startDemo(t)
  await writeFile(`${directory}/secret.txt`, `${secret}\n`)
  const file = await send('--secret-file secret.txt', { WEBHOOK_SECRET: 'whsec_wrong' })
  t.match(file, { code: 0, errors: '' })
  const wrong = await send('', { WEBHOOK_SECRET: 'nonsense' })
  t.same(wrong, { code: 1, output: '', errors: 'The signing secret must be whsec_ followed by base64.\n' })
  const argument = await send(`--secret ${secret}`)
  t.match(argument, {
    code: 64,
    output: '',
    errors: /^A secret on the command line is visible .* WEBHOOK_SECRET,/,
  })
  t.notMatch(argument.errors, secret)
  t.equal(received.length, 1)
})

t.test('programs get no signature unless they ask for it', async (t) => {
  const { send } = await startDemo(t)
  t.notMatch((await send('--json')).output, 'signature')
  t.match((await send('--json --verbose')).output, '"x-signature": "v1=')
})

t.test('the help has an example', async (t) => {
  for (const command of ['--help', 'send --help'])
    t.match(await run('webhook', command, t.testdir()), {
      code: 0,
      errors: '',
      output: /\nExample:\n {2}npm run webhook -- send /,
    })
})
