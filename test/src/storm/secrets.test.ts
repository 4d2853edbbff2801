import t from 'tap'
import { AccessTokens, clientSecret, echoSecrets, findSecrets, key, secretWord } from './secrets.js'

t.test('the search finds each secret in each form in which a receiver may repeat it', async (t) => {
  const secrets = [key, clientSecret, `Bearer ${new AccessTokens().grant()}`]
  const { forms } = echoSecrets(...secrets)
  t.equal(forms.length, 24)
  for (const form of forms) t.ok(findSecrets(`before ${form} after`).length > 0, form)
  for (const secret of secrets) t.ok(findSecrets(Buffer.from(secret)).length > 0)
  t.ok(findSecrets(`\\x${Buffer.from(key).toString('hex')}`).length > 0, 'as Postgres shows bytes')
})

t.test('what is no secret is none', async (t) => {
  const others = [
    '{{credentials.KEY}}',
    'canary',
    secretWord.slice(0, -1),
    Buffer.from('canary-').toString('base64'),
  ]
  t.strictSame(findSecrets(others.join(' ')), [])
})
