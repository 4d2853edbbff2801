import t from 'tap'
import { hideSecrets } from '../src/log-options.js'

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
})) {
  t.test(`a log line does not contain ${title}, and is still JSON`, async (t) => {
    const shown = hideSecrets(line)
    t.notMatch(shown, secret)
    t.match(shown, '[hidden]')
    t.doesNotThrow(() => JSON.parse(shown))
  })
}

t.test('a log line without secrets stays as it is', async (t) => {
  const line = `{"eventId":"${id}","url":"https://example.com:8443/hook?at=12:30","msg":"bearer of news"}`
  t.equal(hideSecrets(line), line)
})
