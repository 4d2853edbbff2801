import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { captureValues } from '../src/effects/capture-values.js'

const json = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const take = (
  capture: Record<string, string>,
  body: unknown,
  headers: Record<string, string | string[]> = { 'content-type': 'application/json' },
  isWhole = true,
) => captureValues(capture, { headers, bytes: Buffer.isBuffer(body) ? body : json(body), isWhole })

t.test('values are taken from body and headers, with their types', async (t) => {
  const body = { id: 7, nested: [{ ok: false }], none: null, text: 'a' }
  const capture = {
    id: 'body.id',
    ok: 'body.nested[0].ok',
    none: 'body.none',
    all: 'body',
    etag: 'headers.ETag',
  }
  const found = take(capture, body, { etag: 'W/"1"', 'content-type': 'text/plain' })
  t.strictSame(found, {
    captured: { id: 7, ok: false, none: null, all: body, etag: 'W/"1"' },
    warnings: [],
  })
})

t.test('a value with bytes that are not of the charset is left out, and others are taken', async (t) => {
  const capture = { id: 'body.id', name: 'body.name', item: 'body.items[0]', key: 'body.keys' }
  const body = Buffer.from('{"id":7,"name":"Zo\xeb","items":["a"],"keys":{"\xeb":1}}', 'latin1')
  t.strictSame(take(capture, body), {
    captured: { id: 7, item: 'a' },
    warnings: [
      'capture.name: the value has characters that are not UTF-8',
      'capture.key: the value has characters that are not UTF-8',
    ],
  })
  const typed = (charset: string) => ({ 'content-type': `application/json; charset=${charset}` })
  t.strictSame(take({ name: 'body.name' }, body, typed('ISO-8859-15')).captured, { name: 'Zo\u00eb' })
  t.strictSame(take({ name: 'body.name' }, body, typed('nonsense')).captured, {}, 'as UTF-8')
  t.strictSame(take({ name: 'body.name' }, '{"name":"a\ufffd"}').captured, { name: 'a\ufffd' }, 'it was sent')
})

t.test('long ids keep their digits', async (t) => {
  t.strictSame(take({ id: 'body.id' }, '{"id":8202522731445525542}').captured, { id: '8202522731445525542' })
})

t.test('what is missing or too large is left out, and the rest is taken', async (t) => {
  const { captured, warnings } = take(
    {
      gone: 'body.gone',
      large: 'body.large',
      small: 'body.small',
      list: 'body.list',
      other: 'body.other',
      etag: 'headers.etag',
    },
    { large: 'x'.repeat(4_100), small: 'y', list: [1], other: [2] },
  )
  t.strictSame(captured, { small: 'y', list: [1] })
  t.strictSame(warnings, [
    'capture.gone: the response has no body.gone',
    'capture.large: the values of a response may have at most 4 KiB together',
    'capture.other: only one value of a response may be a list',
    'capture.etag: the response has no headers.etag',
  ])
})

t.test('4 KiB are counted in bytes, of all values together', async (t) => {
  const values = { a: 'é'.repeat(1_000), b: '\u0001'.repeat(300), c: 'x'.repeat(400) }
  const { captured } = take({ a: 'body.a', b: 'body.b', c: 'body.c' }, values)
  t.strictSame(Object.keys(captured), ['a', 'b'])
})

t.test('a body that cannot be read has one warning, and headers are still taken', async (t) => {
  const capture = { id: 'body.id', name: 'body.name', etag: 'headers.etag' }
  const headers = { etag: 'x', 'content-type': 'text/html; charset=utf-8' }
  const cases: [body: Buffer, more: object, isWhole: boolean, warning: string][] = [
    [json('<html>'), {}, true, 'capture: the response is not JSON, but text/html'],
    [json(''), {}, true, 'capture: the response has no body'],
    [json('{"id":1'), {}, true, 'capture: the response is not JSON, but text/html'],
    [json('{"id":1}'), {}, false, 'capture: the response was cut off'],
    [Buffer.alloc(262_145, ' '), {}, false, 'capture: the response has more than 256 KiB'],
    [
      gzipSync(Buffer.alloc(10_000_000, '1')),
      { 'content-encoding': 'gzip' },
      true,
      'capture: the response has more than 256 KiB',
    ],
    [
      json('{"id":1}'),
      { 'content-encoding': 'gzip' },
      true,
      'capture: the response could not be decompressed',
    ],
    [
      json('{"id":1}'),
      { 'content-encoding': 'gzip, gzip' },
      true,
      'capture: the response could not be decompressed',
    ],
    [
      gzipSync(json('{"id":1}')),
      { 'content-encoding': 'gzip, gzip, gzip, gzip, gzip' },
      true,
      'capture: the response could not be decompressed',
    ],
    [
      json('LZ{"id":1}'),
      { 'content-encoding': 'compress' },
      true,
      'capture: the response has an unknown content-encoding',
    ],
  ]
  for (const [body, more, isWhole, warning] of cases)
    t.strictSame(
      take(capture, body, { ...headers, ...more }, isWhole),
      { captured: { etag: 'x' }, warnings: [warning] },
      warning,
    )
})

t.test('compressed responses are read', async (t) => {
  const body = gzipSync(json({ id: 7 }))
  t.strictSame(take({ id: 'body.id' }, body, { 'content-encoding': 'GZIP' }).captured, { id: 7 })
})

t.test('compressions are undone from the last to the first, and other words are none', async (t) => {
  const plain = json({ id: 7 })
  const spellings: [body: Buffer, encoding: string | string[]][] = [
    [gzipSync(plain), 'x-gzip'],
    [gzipSync(gzipSync(plain)), 'gzip, gzip'],
    [gzipSync(deflateSync(plain)), ['deflate', 'gzip']],
    [brotliCompressSync(plain), 'br'],
    [Buffer.concat([gzipSync(plain.subarray(0, 3)), gzipSync(plain.subarray(3))]), 'gzip'],
    [deflateSync(plain), 'deflate'],
    [deflateRawSync(plain), 'Deflate'],
    [gzipSync(plain), 'gzip, identity'],
    [gzipSync(plain), 'gzip,'],
    [plain, ''],
    [plain, 'none'],
    [plain, 'utf-8'],
    [plain, 'identity'],
  ]
  for (const [body, encoding] of spellings)
    t.strictSame(
      take({ id: 'body.id' }, body, { 'content-encoding': encoding }),
      { captured: { id: 7 }, warnings: [] },
      String(encoding),
    )
})

t.test('a number beyond the range of numbers is left out, since a stored one would be null', async (t) => {
  const body = '{"v":1e400,"list":[1,-1e400],"tiny":1e-400,"id":8202522731445525542}'
  const found = take({ v: 'body.v', list: 'body.list', tiny: 'body.tiny', id: 'body.id' }, body)
  t.strictSame(found, {
    captured: { tiny: '1e-400', id: '8202522731445525542' },
    warnings: [
      'capture.v: the value has a number that is too large',
      'capture.list: the value has a number that is too large',
    ],
  })
})

t.test('a header in UTF-8 keeps its letters, and so does one in Latin 1', async (t) => {
  const latin = (text: string) => Buffer.from(text).toString('latin1')
  const headers = { utf: latin('Zo\u00eb \u{1f600}'), latin: 'Zo\u00eb', list: [latin('\u00fc'), 'a'] }
  const found = take({ utf: 'headers.utf', latin: 'headers.latin', list: 'headers.list' }, {}, headers)
  t.strictSame(found.captured, { utf: 'Zo\u00eb \u{1f600}', latin: 'Zo\u00eb', list: ['\u00fc', 'a'] })
})

t.test('what Postgres or a template could stumble over is cleaned', async (t) => {
  const body =
    '{"a":"x\\u0000y\\ud800{{name}}","b":{"__proto__":{"x":1},"k\\u0000":1},"__proto__":{"admin":true}}'
  const { captured } = take(
    { a: 'body.a', b: 'body.b', admin: 'body.admin', inherited: 'body.toString' },
    body,
  )
  t.strictSame(captured, { a: 'xy\ufffd{{name}}', b: { k: 1 } })
  t.equal(Object.getPrototypeOf(captured.b), Object.prototype)
})
