import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Effect } from '@automation/engine'
import fc from 'fast-check'
import t from 'tap'
import { captureValues, maxCapturedBytes } from '../src/effects/capture-values.js'
import { context, openSender, serve, webhook } from './fixtures/outbound.js'
import { measureSlowness } from './fixtures/slowness.js'

const seed = Number.parseInt(process.env.TEST_SEED ?? '1', 16)
const responses = 300
const maxCpuMs = 20

const capture = {
  id: 'body.id',
  all: 'body',
  deep: 'body[0][0][0]',
  list: 'body.list',
  other: 'body.other',
  proto: 'body.__proto__.admin',
  etag: 'headers.etag',
  cookies: 'headers.set-cookie',
}

/** What a stranger may send: a kind of text, how large it is, how it is written, and what is said of it. */
interface Hostile {
  text: string
  encoding: string
  type: string
  status: number
  end: 'whole' | 'cut' | 'chunks'
}

const odd = fc.constantFrom(
  '\u0000',
  '\ud800',
  '\udfff',
  '{{captured.id}}',
  '{{credentials.KEY}}',
  '{{#each x}}',
  '\u202e',
  '</script>',
  "'; DROP TABLE rules; --",
  '__proto__',
  'constructor',
)
const size = fc.constantFrom(1, 33, 4_097, 65_537, 131_000, maxCapturedBytes, maxCapturedBytes + 1)
const texts: ((size: number, odd: string) => string)[] = [
  (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
  (size) => `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`,
  (size) => `{"id":"${'x'.repeat(size)}"}`,
  (size) => `{"id":${'9'.repeat(size)}}`,
  (size) =>
    `{"list":[${Array(Math.ceil(size / 22))
      .fill('12345678901234567890')
      .join()}],"id":1e-400}`,
  (size) =>
    `[${Array(Math.ceil(size / 8))
      .fill('1e-400')
      .join()}]`,
  (size) =>
    `[${Array(Math.ceil(size / 3))
      .fill('""')
      .join()}]`,
  (size) => `{"id":"${'\\\\'.repeat(size / 2)}","n":12345678901234567890}`,
  (size) => `{${Array.from({ length: Math.ceil(size / 12) }, (_, n) => `"key${n}":{}`).join()}}`,
  (size) =>
    `[${Array(Math.ceil(size / 3))
      .fill('{}')
      .join()}]`,
  (size) =>
    `{"list":[${Array(Math.ceil(size / 2))
      .fill('0')
      .join()}],"other":[1]}`,
  (_size, odd) => JSON.stringify({ id: odd, list: [odd], other: { [odd]: odd } }),
  (_size, odd) =>
    `{"id":{"__proto__":{"admin":true},"${odd === '\u0000' ? 'x' : odd.replaceAll(/["\\]/g, '')}":1},"__proto__":{"admin":"yes"}}`,
  (size, odd) => odd.repeat(size / 4),
  (size) => `<html>${'<b>'.repeat(size / 3)}`,
  (size) => `{"id":1${' '.repeat(size)}`,
  () => '',
  () => 'null',
  () => '{"id":1}{"id":2}',
  () => 'NaN',
]
const hostile: fc.Arbitrary<Hostile> = fc.record({
  text: fc
    .tuple(fc.constantFrom(...texts), size, odd)
    .map(([write, size, odd]) => write(Math.max(size, 12), odd)),
  encoding: fc.constantFrom(
    'identity',
    'identity',
    'identity',
    'gzip',
    'deflate',
    'br',
    'gzip of nothing',
    'gzip cut',
    'bomb',
    'bomb of br',
    'twice',
    'compress',
  ),
  type: fc.constantFrom(
    'application/json',
    'application/json; charset=utf-16',
    'text/html',
    'image/png',
    'application/json; charset=nonsense',
    '',
    `x/${'y'.repeat(4_000)}`,
  ),
  status: fc.constantFrom(200, 201, 204, 301, 400, 404, 409, 422, 500, 503),
  end: fc.constantFrom('whole', 'whole', 'whole', 'cut', 'chunks'),
})

const bomb = gzipSync(Buffer.alloc(50_000_000, '[1,'))
const brotliBomb = brotliCompressSync(Buffer.alloc(20_000_000, '0'))

function encode({ text, encoding }: Hostile): [header: string, bytes: Buffer] {
  const bytes = Buffer.from(text)
  switch (encoding) {
    case 'gzip':
      return ['gzip', gzipSync(bytes)]
    case 'deflate':
      return ['deflate', deflateSync(bytes)]
    case 'br':
      return ['br', brotliCompressSync(bytes)]
    case 'gzip of nothing':
      return ['gzip', bytes]
    case 'gzip cut':
      return ['gzip', gzipSync(bytes).subarray(0, -9)]
    case 'bomb':
      return ['gzip', bomb]
    case 'bomb of br':
      return ['br', brotliBomb]
    case 'twice':
      return ['gzip, gzip', gzipSync(gzipSync(bytes))]
    default:
      return [encoding, bytes]
  }
}

function answer(response: ServerResponse, sent: Hostile): void {
  const [encoding, bytes] = encode(sent)
  response.writeHead(sent.status, {
    'content-type': sent.type,
    ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    etag: '{{captured.id}} \u00ff',
    'set-cookie': ['a=1', 'b=2'],
    ...(sent.end === 'cut' && sent.status !== 204 && { 'content-length': bytes.length + 7 }),
  })
  // A 204 has no body that could be cut.
  if (sent.end === 'cut' && sent.status !== 204) response.write(bytes, () => response.destroy())
  else if (sent.end === 'whole') response.end(bytes)
  else {
    const middle = bytes.length >> 1
    response.write(bytes.subarray(0, middle))
    response.end(bytes.subarray(middle))
  }
}

const sample = fc.sample(hostile, { numRuns: responses, seed })

t.test(`each of ${responses} hostile responses is a result with sentences`, async (t) => {
  let next: Hostile | undefined
  const server = await serve(t, (_request, response) => answer(response, next as Hostile))
  const sender = openSender(t)
  for (const sent of sample) {
    next = sent
    const effect: Effect = await sender.sendWebhook(
      webhook({ url: server.url, capture, timeoutMs: 5_000 }),
      context,
    )
    const named = nameOf(sent)
    const { status } = sent
    t.match(effect, { status: status < 300 ? 'success' : 'failed', output: { statusCode: status } }, named)
    const { captured = {}, warnings = [] } = effect
    t.ok(Buffer.byteLength(JSON.stringify(captured)) < 4_096 + 200, named)
    t.equal(findUnclean(captured), undefined, named)
    const missing = Object.keys(capture).filter((name) => !Object.hasOwn(captured, name))
    const isOneFor = (name: string) =>
      warnings.some((warning) => warning.startsWith(`capture.${name}: `) || warning.startsWith('capture: '))
    t.strictSame(
      missing.filter((name) => !isOneFor(name)),
      [],
      named,
    )
    t.ok(warnings.length <= Object.keys(capture).length && warnings.every((one) => one.length < 200), named)
  }
})

t.test(`none of them takes more than ${maxCpuMs} ms`, async (t) => {
  let longest = 0
  for (const sent of sample) {
    const [encoding, bytes] = encode(sent)
    const response = {
      headers: { 'content-type': sent.type, 'content-encoding': encoding },
      bytes: bytes.subarray(0, maxCapturedBytes + 1),
      isWhole: bytes.length <= maxCapturedBytes,
    }
    // The best of five: the first ones compile, and some collect garbage.
    const times = [1, 2, 3, 4, 5].map(() => {
      const startedAt = process.cpuUsage()
      captureValues(capture, response)
      const { user, system } = process.cpuUsage(startedAt)
      return (user + system) / 1_000
    })
    const ms = Math.min(...times)
    longest = Math.max(longest, ms)
    t.ok(ms <= maxCpuMs || ms <= maxCpuMs * measureSlowness(), `${ms} ms: ${nameOf(sent)}`)
  }
  t.comment(`the longest took ${longest} ms`)
})

function nameOf({ text, type, ...more }: Hostile): string {
  return JSON.stringify({ text: text.slice(0, 40), type: type.slice(0, 40), ...more })
}

/** What Postgres refuses, or what would be more than data. */
function findUnclean(value: unknown): string | undefined {
  if (typeof value === 'string') return value.includes('\u0000') || !value.isWellFormed() ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const key of Object.getOwnPropertyNames(value)) {
    if (key === '__proto__' || findUnclean(key) !== undefined) return key
    const found = key === 'length' ? undefined : findUnclean((value as Record<string, unknown>)[key])
    if (found !== undefined) return found
  }
  return undefined
}
