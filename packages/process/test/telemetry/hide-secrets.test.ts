import t from 'tap'
import { hideSecrets } from '../../src/telemetry/hide-secrets.js'

const secret = 'not-to-be-read'
const id = '01928f6e-0000-7000-8000-000000000000'

for (const [title, line] of Object.entries({
  'a password of Postgres': `{"msg":"connect postgresql://automation:${secret}@db:5432/x failed"}`,
  'a password of Redis without a user': `{"msg":"rediss://:${secret}@redis:6379"}`,
  'a password of the mail server': `{"url":"smtp://mailer:${secret}@127.0.0.1:587"}`,
  'a token in a header': `{"authorization":"Bearer ${secret}"}`,
  'a password in a header': `{"authorization":"basic ${secret}"}`,
  'an API key': `{"key":"ark_${id}_${secret}"}`,
  'a signing secret': `{"secret":"whsec_${secret}=="}`,
  'a JSON Web Token': `{"msg":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1In0.${secret} is refused"}`,
  'a JSON Web Token behind other text': `{"msg":"session-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1In0.${secret}"}`,
  'an encrypted token of five parts': `{"msg":"eyJhbGciOiJkaXIifQ..a.b.${secret}"}`,
  'the path of a chat webhook': `{"msg":"POST https://hooks.slack.com/services/T0/B0/${secret} failed"}`,
  'the path of a webhook whose host has another name': `{"url":"https://discord.com/api/webhooks/42/${secret}?wait=1"}`,
  'a webhook with a number in front': `{"url":"https://acme.webhook.office.com/${secret}"}`,
  'a long random part of a path': `{"url":"https://api.example.com/bot42:AAHdqTcvCH1vGWJxfSeof-${secret}/sendMessage"}`,
  'a token in a query': `{"url":"/stream?from=1&access_token=${secret}&to=2"}`,
  'a key in a query': `{"url":"https://example.com/v1/send?apiKey=${secret}"}`,
  'a signature in a query': `{"url":"https://example.com/x?sig=${secret}","msg":"x"}`,
  'a signed address of a store': `{"url":"https://s3.example.com/file?X-Amz-Signature=${secret}"}`,
  'a token behind a hash': `{"url":"https://example.com/back#id_token=${secret}"}`,
})) {
  t.test(`a log line does not contain ${title}, and is still JSON`, async (t) => {
    const shown = hideSecrets(line)
    t.notMatch(shown, secret)
    t.match(shown, '[hidden]')
    t.doesNotThrow(() => JSON.parse(shown))
  })
}

t.test('a log line without secrets stays as it is', async (t) => {
  for (const line of [
    `{"eventId":"${id}","url":"https://example.com:8443/hook?at=12:30","msg":"bearer of news"}`,
    `{"url":"https://rules.example.com/api/executions/${id}?limit=20&cursor=abc&author=ada","file":"a.b.js"}`,
    `{"msg":"connect ECONNREFUSED 10.0.0.5:5432","collector":"http://127.0.0.1:4318/v1/traces"}`,
  ])
    t.equal(hideSecrets(line), line)
})

t.test('what surrounds a secret can be read', async (t) => {
  t.equal(
    hideSecrets(`POST https://hooks.slack.com/services/T0/B0/${secret}?x=1 failed`),
    'POST https://hooks.slack.com/[hidden]?x=1 failed',
  )
  t.equal(
    hideSecrets(`https://discord.com/api/webhooks/42/${secret} /x?from=1&token=${secret}&to=2`),
    'https://discord.com/api/webhooks/[hidden] /x?from=1&token=[hidden]&to=2',
  )
})

t.test('the time for a line grows with its length and no faster, whatever the line repeats', async (t) => {
  for (const part of [
    '-eyJ',
    'eyJa.',
    'eyJ-',
    'a.',
    '?token',
    '?a&',
    '#;',
    'https://',
    'https://hook',
    'https://a/hook',
    '/hook',
    'a://b:',
    'Bearer ',
    'Basic   ',
    'whsec_',
    'ark_',
    'passw',
    '%5b[',
  ]) {
    const line = part.repeat(400_000 / part.length)
    const startedAt = process.cpuUsage()
    hideSecrets(line)
    const ms = process.cpuUsage(startedAt).user / 1_000
    // Quadratic time is some twenty seconds here, linear time some milliseconds.
    t.ok(ms < 2_000, `${part}: ${ms.toFixed(0)} ms`)
  }
})
