import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { readForm } from '../src/schemes/read-form.js'
import { readSchemeKey } from '../src/schemes/read-scheme-key.js'
import { readySchemes } from '../src/schemes/ready-schemes.js'
import type { SchemeName } from '../src/schemes/scheme.js'
import { readTimestamp, type SchemeRequest } from '../src/schemes/scheme-request.js'
import type { SchemeSettings } from '../src/schemes/scheme-settings.js'
import { signByScheme } from '../src/schemes/sign-by-scheme.js'
import { maySign, useScheme } from '../src/schemes/use-scheme.js'
import { verifyByScheme } from '../src/schemes/verify-by-scheme.js'
import { type RecordedWebhook, readRecordedWebhooks } from './fixtures/recorded-webhooks.js'

const { webhooks, seconds } = readRecordedWebhooks()
const requestOf = ({ headers, query, isForm, body }: RecordedWebhook): SchemeRequest => {
  return { headers, query, isForm, body: Buffer.from(body) }
}
const verify = (
  { scheme, settings, secret }: RecordedWebhook,
  request: SchemeRequest,
  text = secret,
): boolean => {
  const inUse = useScheme(scheme, settings)
  return verifyByScheme(inUse, readSchemeKey(inUse.scheme, text) ?? Buffer.alloc(0), request)
}

t.test('what the libraries of providers sign is accepted as it is', async (t) => {
  for (const recorded of webhooks) {
    t.ok(verify(recorded, requestOf(recorded)), `${recorded.library}: ${recorded.body.slice(0, 40)}`)
    const stamp = readTimestamp(useScheme(recorded.scheme, recorded.settings).scheme, recorded.headers)
    t.ok(stamp === '' || stamp === String(seconds))
  }
  const withLibrary = Object.keys(readySchemes).filter(
    (name) => name !== 'automation' && name !== 'zoom' && name !== 'meta',
  )
  t.same([...new Set(webhooks.map(({ scheme }) => scheme))].sort(), withLibrary.sort())
})

t.test('no flipped byte of a body or a signature is accepted', async (t) => {
  for (const recorded of webhooks) {
    const request = requestOf(recorded)
    const accepted: number[] = []
    for (let at = 0; at < request.body.length; at++) {
      const body = Buffer.from(request.body)
      body[at] = (body[at] ?? 0) ^ 1
      if (verify(recorded, { ...request, body })) accepted.push(at)
    }
    t.same(accepted, [], `body of ${recorded.library}`)
    const [header = ''] = useScheme(recorded.scheme, recorded.settings).scheme.signature.headers.filter(
      (name) => recorded.headers[name] !== undefined,
    )
    const text = recorded.headers[header] ?? ''
    for (let at = text.length - 20; at < text.length; at++) {
      const changed = text.slice(0, at) + (text[at] === 'g' ? 'h' : 'g') + text.slice(at + 1)
      const isRight = verify(recorded, { ...request, headers: { ...recorded.headers, [header]: changed } })
      t.notOk(isRight && changed !== text, `${header} of ${recorded.library}`)
    }
  }
})

t.test('no other secret, and no secret of another scheme, is accepted', async (t) => {
  for (const recorded of webhooks) {
    t.notOk(verify(recorded, requestOf(recorded), `${recorded.secret.slice(0, -2)}AA`), recorded.library)
    for (const other of webhooks.filter(({ scheme }) => scheme !== recorded.scheme))
      t.notOk(verify({ ...recorded, ...other, secret: recorded.secret }, requestOf(recorded)))
  }
})

t.test('500 mutants of each scheme are refused, and none is a fault', async (t) => {
  const anyText = fc.string({ unit: 'binary', maxLength: 40 })
  for (const recorded of webhooks) {
    const mutant = fc.record({
      headers: fc
        .dictionary(fc.constantFrom(...Object.keys(recorded.headers)), anyText, { minKeys: 1 })
        .map((headers) => ({ ...recorded.headers, ...headers })),
      query: fc.oneof(fc.constant(recorded.query), anyText),
      isForm: fc.boolean(),
      body: fc.oneof(
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        fc.constant(Buffer.from(recorded.body)),
      ),
    })
    const original = JSON.stringify(requestOf(recorded))
    const isHarmless = (request: SchemeRequest) =>
      !verify(recorded, request) || JSON.stringify(request) === original || isSameSigned(recorded, request)
    fc.assert(fc.property(mutant, isHarmless), { numRuns: 500 })
  }
  t.pass()
})

/** What a mutant changed is not part of what is signed. */
function isSameSigned({ scheme, body, headers }: RecordedWebhook, request: SchemeRequest): boolean {
  const { signature, id, timestamp } = readySchemes[scheme as keyof typeof readySchemes]
  const signed = [...signature.headers, ...(id.isSigned ? id.headers : []), ...(timestamp?.headers ?? [])]
  const isSame = signed.every((name) => request.headers[name] === headers[name])
  return isSame && request.body.equals(Buffer.from(body))
}

t.test('the rows sign as they verify, in each notation', async (t) => {
  const generic: SchemeSettings = {
    signatureHeader: 'X-Acme-Signature',
    signed: 'POST{url}:{id}:{timestamp}:{body}',
    publicUrl: 'https://rules.example.com/hook?x=1',
    idHeader: 'X-Acme-Id',
    timestampHeader: 'X-Acme-Signature',
    timestampPrefix: 'ts=',
    signatureSeparator: ';',
    signaturePrefix: 'h1=',
    hash: 'sha512',
    encoding: 'base64',
    keyEncoding: 'hex',
  }
  const cases: [SchemeName, SchemeSettings, string][] = [
    ...webhooks.map(({ scheme, settings, secret }): [SchemeName, SchemeSettings, string] => {
      return [scheme, settings, secret]
    }),
    ['generic', generic, '00ff10'],
    ['automation', {}, 'its key'],
  ]
  for (const [name, settings, secret] of cases) {
    const inUse = useScheme(name, settings)
    const key = readSchemeKey(inUse.scheme, secret) ?? Buffer.alloc(0)
    const webhook = {
      id: 'evt_1',
      timestamp: '1789000000',
      type: 'x',
      isForm: true,
      query: 'x=1',
      body: Buffer.from('a=1&b=2'),
    }
    const headers = signByScheme(inUse, key, webhook)
    t.ok(verifyByScheme(inUse, key, { ...webhook, headers }), name)
    t.notOk(verifyByScheme(inUse, key, { ...webhook, headers, body: Buffer.from('a=1&b=3') }), name)
    t.ok(Object.keys(headers).some(maySign), 'its header is one that may sign')
    const inCapitals = Object.entries(headers).map(([header, text]) => [
      header,
      text.replace(/[0-9a-f]{40,}/, (hex) => hex.toUpperCase()),
    ])
    t.equal(
      verifyByScheme(inUse, key, { ...webhook, headers: Object.fromEntries(inCapitals) }),
      true,
      `${name}: hex may be in capitals`,
    )
  }
})

t.test('a key whose text is damaged is none', async (t) => {
  t.strictSame(readSchemeKey({ key: 'hex' }, '00ff10'), Buffer.from([0, 255, 16]))
  t.strictSame(
    readSchemeKey({ key: 'base64' }, 'c2VjcmV0IQ'),
    Buffer.from('secret!'),
    'padding may be left out',
  )
  for (const text of ['', '00ff1', '00ffzz', '00 ff']) t.equal(readSchemeKey({ key: 'hex' }, text), undefined)
  for (const text of ['', 'c2VjcmV0I', 'c2Vj cmV0IQ==', 'c2Vjc*mV0IQ=='])
    t.equal(readSchemeKey({ key: 'base64' }, text), undefined)
  for (const text of ['whsec_', 'whsec_c2Vjc*mV0IQ=='])
    t.equal(readSchemeKey({ key: 'whsec' }, text), undefined)
})

t.test('a request costs one HMAC, or of Twilio one for each of two URLs, whatever is in it', async (t) => {
  const { createHmac } = crypto
  let count = 0
  crypto.createHmac = ((...args: Parameters<typeof createHmac>) => {
    count++
    return createHmac(...args)
  }) as typeof createHmac
  syncBuiltinESMExports()
  t.teardown(() => {
    crypto.createHmac = createHmac
    syncBuiltinESMExports()
  })
  for (const recorded of webhooks) {
    const request = requestOf(recorded)
    const [header = ''] = Object.keys(recorded.headers).filter(maySign)
    const many = Array(1_000).fill(recorded.headers[header]).join(',')
    const requests = [request, { ...request, headers: {} }, { ...request, headers: { [header]: many } }]
    for (const one of requests) {
      count = 0
      verify(recorded, one)
      t.equal(count, recorded.scheme === 'twilio' ? 2 : 1, recorded.library)
    }
  }
})

t.test('a form has at most 1,000 fields, and repeated ones are lists', async (t) => {
  const form = (text: string | Buffer) => readForm(Buffer.from(text))
  t.strictSame({ ...form('a=1&b=%C3%A9+%26&a=2&a=3') }, { a: ['1', '2', '3'], b: 'é &' })
  t.strictSame({ ...form('') }, {})
  t.equal(
    Object.keys(form(Array.from({ length: 1_000 }, (_, at) => `f${at}=`).join('&')) ?? {}).length,
    1_000,
  )
  t.equal(form(Array.from({ length: 1_001 }, (_, at) => `f${at}=`).join('&')), undefined)
  t.equal(form('&'.repeat(1_000_000)), undefined)
  t.equal(form(Buffer.from([0x61, 0x3d, 0xff])), undefined, 'bytes that are not UTF-8')
  t.equal(form('__proto__=1'), undefined)
  for (const text of ['name=Zo%EB', 'name=Zo%C3', 'a=%C3&b=%AB', 'a=1&%ff=2', 'a=%ED%A0%80'])
    t.equal(form(text), undefined, `${text} would be read as U+FFFD`)
  t.strictSame(
    { ...form('a=Zo%C3%AB+%F0%9F%98%80&b=%EF%BF%BD&c=100%&d=%zz%4') },
    {
      a: 'Zoë 😀',
      b: '\ufffd',
      c: '100%',
      d: '%zz%4',
    },
  )
  t.strictSame({ ...form('constructor=1&toString=2') }, { constructor: '1', toString: '2' })
})
