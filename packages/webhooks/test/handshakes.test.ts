import { createHmac } from 'node:crypto'
import t from 'tap'
import { answerHandshake, isUnsignedPing, readUrlChallenge } from '../src/schemes/handshakes.js'
import { nestForm } from '../src/schemes/nest-form.js'
import { readForm } from '../src/schemes/read-form.js'
import { readSchemeKey } from '../src/schemes/read-scheme-key.js'
import { readySchemes } from '../src/schemes/ready-schemes.js'
import { signByScheme } from '../src/schemes/sign-by-scheme.js'
import { readSignedTime } from '../src/schemes/signed-time.js'
import { useScheme } from '../src/schemes/use-scheme.js'
import { verifyByScheme } from '../src/schemes/verify-by-scheme.js'

const key = Buffer.from('secret token')

t.test('only a token of up to 64 characters is signed as a challenge', async (t) => {
  const answer = (plainToken: unknown, event = 'endpoint.url_validation') =>
    answerHandshake(readySchemes.zoom.handshake, key, (path) =>
      path === 'event' ? event : typeof plainToken === 'string' ? plainToken : undefined,
    )
  const encryptedToken = createHmac('sha256', key).update('qgg8vlvZRS6UYooatFL8Aw').digest('hex')
  t.strictSame(answer('qgg8vlvZRS6UYooatFL8Aw'), {
    contentType: 'application/json',
    body: JSON.stringify({ plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken }),
  })
  t.ok(answer('x'.repeat(64)))
  for (const text of ['v0:1789000000:{}', 'x'.repeat(65), '', 'a b', 'a\n', 'a.b', 'é', undefined])
    t.equal(answer(text), undefined, String(text))
  t.equal(answer('token', 'meeting.ended'), undefined)
  t.equal(
    answerHandshake(undefined, key, () => 'x'),
    undefined,
  )
})

t.test('a challenge in a URL is read, and may be returned if it is a token', async (t) => {
  const query = (challenge: string) => `hub.mode=subscribe&hub.verify_token=t%20k&hub.challenge=${challenge}`
  t.strictSame(readUrlChallenge(query('1158201444')), {
    verifyToken: 't k',
    challenge: '1158201444',
    isToken: true,
  })
  for (const challenge of ['', '%3Cb%3E', 'x'.repeat(65), 'a%0A'])
    t.equal(readUrlChallenge(query(challenge))?.isToken, false, challenge)
  for (const other of ['', 'hub.mode=unsubscribe', 'hub.challenge=1&hub.verify_token=x'])
    t.equal(readUrlChallenge(other), undefined, other)
})

t.test('a ping is a form with nothing but the id of its webhook', async (t) => {
  t.equal(isUnsignedPing(Buffer.from('webhook_id=12')), true)
  for (const text of [
    'webhook_id=',
    'webhook_id=1&a=2',
    'webhook_id=x',
    'a=1',
    '',
    `webhook_id=${'1'.repeat(21)}`,
  ])
    t.equal(isUnsignedPing(Buffer.from(text)), false, text)
})

t.test('a signed time is Unix time in four units, also with a fraction, or RFC 3339', async (t) => {
  const at = 1_795_886_704_234
  const times: [string, number][] = [
    ['1795886704', 1_795_886_704_000],
    ['1795886704.234', at],
    ['1795886704234', at],
    ['1795886704234567', at + 0.567],
    ['1795886704234000000', at],
    ['2026-11-28T17:25:04.234Z', at],
    ['2026-11-28T17:25:04.234567891Z', at],
    ['2026-11-28t17:25:04.234z', at],
    ['2026-11-28 18:25:04.234+01:00', at],
  ]
  for (const [text, expected] of times)
    t.ok(Math.abs((readSignedTime(text) ?? 0) - expected) < 1, `${text} is ${readSignedTime(text)}`)
  for (const text of [
    '',
    'soon',
    '1e99',
    '-1',
    '0x10',
    '2026-11-28',
    '2026-13-28T17:25:04Z',
    '9'.repeat(21),
    '1.',
    'NaN',
  ])
    t.equal(readSignedTime(text), undefined, text)
})

t.test('Twilio may sign its URL with or without the port, and never with user and password', async (t) => {
  const signed = (publicUrl: string, query = '') => {
    const webhook = { id: '', type: '', timestamp: '', isForm: true, query, body: Buffer.from('A=1') }
    const generic = useScheme('generic', {
      signatureHeader: 'x',
      signed: '{url}{fields}',
      hash: 'sha1',
      encoding: 'base64',
      publicUrl,
    })
    const { x = '' } = signByScheme(generic, key, webhook)
    return { ...webhook, headers: { 'x-twilio-signature': x } }
  }
  const accepts = (publicUrl: string, url: string, query?: string) =>
    verifyByScheme(useScheme('twilio', { publicUrl }), key, signed(url, query))
  const host = 'https://hooks.example.com'
  t.ok(accepts(`${host}:8443/hook`, `${host}/hook`))
  t.ok(accepts(`${host}:8443/hook`, `${host}:8443/hook`))
  t.ok(accepts(`${host}/hook`, `${host}:443/hook`), 'Conversations')
  t.ok(accepts(`${host}:443/hook`, `${host}/hook`))
  t.ok(accepts('http://hooks.example.com/hook', 'http://hooks.example.com:80/hook', 'a=1'))
  t.ok(accepts('https://user:pa%20ss@hooks.example.com/hook', `${host}/hook`))
  t.ok(accepts('https://user:p:1@hooks.example.com:8443/hook?a=1', `${host}/hook`))
  t.ok(accepts('https://HOOKS.example.com/@x:9/', 'https://HOOKS.example.com/@x:9/'))
  t.ok(accepts('https://[::1]:8443/hook', 'https://[::1]/hook'))
  t.notOk(accepts(`${host}/hook`, `${host}:8443/hook`), 'another port')
  t.notOk(accepts(`${host}/hook`, 'http://hooks.example.com/hook'))
  t.notOk(accepts(`${host}/hook`, `${host}/other`))
  t.notOk(accepts(`${host}/hook`, 'https://evil.example.com/hook'))
})

t.test('a secret behind the version of its signatures is the same one', async (t) => {
  const secret = 'whsec_c2VjcmV0IHRva2Vu'
  t.same(readSchemeKey(readySchemes.standard_webhooks, `v1,${secret}`), Buffer.from('secret token'))
  t.equal(readSchemeKey(readySchemes.standard_webhooks, 'v1,v1,whsec_c2VjcmV0'), undefined)
})

t.test('the fields of a form are nested as they are named, if nothing else has their place', async (t) => {
  const nest = (text: string) => JSON.parse(JSON.stringify(nestForm(readForm(Buffer.from(text)) ?? {})))
  t.strictSame(nest('MessagingBinding.Address=%2B1555&MessagingBinding.Type=sms&From=x'), {
    From: 'x',
    MessagingBinding: { Address: '+1555', Type: 'sms' },
  })
  t.strictSame(nest('data[email]=a%40b&data[merges][NAME]=Ada&tags[]=1&tags[]=2&one[]=1'), {
    data: { email: 'a@b', merges: { NAME: 'Ada' } },
    tags: ['1', '2'],
    one: ['1'],
  })
  t.strictSame(nest('items[0][id]=a&items[1][id]=b&odd[0]=1&odd[2]=3'), {
    items: [{ id: 'a' }, { id: 'b' }],
    odd: { 0: '1', 2: '3' },
  })
  t.strictSame(nest('a.b=1&a=2'), { a: '2', 'a.b': '1' }, 'a name stays whole if its place is taken')
  t.strictSame(nest('a.b=1&a.b.c=2'), { a: { b: '1' }, 'a.b.c': '2' })
  for (const name of [
    'a..b',
    '.a',
    'a.',
    'a[b',
    'a b.c',
    'a[__proto__]',
    'x.__proto__.y',
    Array(11).fill('a').join('.'),
  ])
    t.strictSame(nest(`${encodeURIComponent(name)}=1`), { [name]: '1' }, name)
  t.strictSame(nest('0=a&1=b'), { 0: 'a', 1: 'b' }, 'a form is no list')
  t.equal(
    JSON.stringify(nest('constructor.prototype=1&toString[a]=2')),
    '{"constructor":{"prototype":"1"},"toString":{"a":"2"}}',
  )
})
