import fc from 'fast-check'
import t from 'tap'
import { diagnose } from '../src/diagnose.js'
import {
  base64,
  codesOf,
  content,
  digest,
  hash,
  id,
  secret,
  sent,
  sentAs,
  text,
  timestamp,
} from './fixtures/sender.js'

t.test('each wrong composition of the signed content is reported', async (t) => {
  const cases: [string, string[]][] = [
    [`${timestamp}.${text}`, ['signed_without_id']],
    [`${id}.${text}`, ['signed_without_timestamp']],
    [text, ['signed_body_alone']],
    [`${timestamp}.${id}.${text}`, ['signed_in_other_order']],
    [id + timestamp + text, ['signed_without_separators']],
    [`${id}:${timestamp}:${text}`, ['signed_with_other_separators']],
    [`${id}\n${timestamp}\n${text}`, ['signed_with_other_separators']],
    [`${timestamp}${text}`, ['signed_without_separators', 'signed_without_id']],
    [`${id}.${timestamp}000.${text}`, ['signed_milliseconds']],
    [`${id}.${timestamp}437.${text}`, ['signed_milliseconds']],
    [`${content}\n`, ['body_newline']],
  ]
  for (const [content, codes] of cases) t.same(codesOf(sent(hash(content))), codes, JSON.stringify(content))
})

t.test('a body that was serialised again after signing is reported with its form', async (t) => {
  const sentBody = '{"b":{"ä":"1/2 <b>"},"a":[1.0,1e2,12345678901234567890,[],{}]}'
  const numbers = '1.0, 1e2, 12345678901234567890, [], {}'
  const spaced = `{"b": {"ä": "1/2 <b>"}, "a": [${numbers}]}`
  const cases: [string, string][] = [
    [spaced, "spaced as Python's json.dumps does"],
    [spaced.replace('ä', '\\u00e4'), "spaced as Python's json.dumps does, with non-ASCII letters escaped"],
    [sentBody.replace('ä', '\\u00e4'), 'compact, with non-ASCII letters escaped'],
    [
      sentBody.replace('ä', '\\u00e4').replace('/', '\\/'),
      'compact, with slashes and non-ASCII letters escaped',
    ],
    [sentBody.replace('<b>', '\\u003cb\\u003e'), 'compact, with <, > and & escaped'],
    ['{"a":[1.0,1e2,12345678901234567890,[],{}],"b":{"ä":"1/2 <b>"}}', 'compact, with its keys sorted'],
    [
      `{"a": [${numbers}], "b": {"ä": "1/2 <b>"}}`,
      "spaced as Python's json.dumps does, with its keys sorted",
    ],
  ]
  const body = Buffer.from(sentBody)
  for (const [signed, name] of cases) {
    const [finding, ...others] = diagnose(sent(hash(`${id}.${timestamp}.${signed}`), { body }), [secret])
    t.equal(finding?.code, 'body_rewritten', name)
    t.match(finding?.message, `(what was signed is ${name})`)
    t.same(others, [])
  }
  const pretty = JSON.stringify(JSON.parse(text), null, 2)
  for (const [signed, travelled] of [
    [pretty, text],
    [JSON.stringify(JSON.parse(text), null, 4), text],
    [text, pretty],
    [text, pretty.replaceAll('\n', '')],
  ] as const) {
    const delivery = sent(hash(`${id}.${timestamp}.${signed}`), { body: Buffer.from(travelled) })
    t.same(codesOf(delivery), ['body_rewritten'], travelled)
  }
})

t.test('a line break added or removed at the end of the body is reported', async (t) => {
  for (const lineBreak of ['\n', '\r\n']) {
    t.same(codesOf(sent(digest, { body: Buffer.from(text + lineBreak) })), ['body_newline'])
  }
  const pretty = JSON.stringify(JSON.parse(text), null, 2)
  t.same(codesOf(sent(hash(`${id}.${timestamp}.${pretty}\n`))), ['body_rewritten', 'body_newline'])
})

t.test('each wrong decoding of the secret is reported', async (t) => {
  t.same(codesOf(sent(hash(content, base64))), ['key_not_decoded'])
  t.same(codesOf(sent(hash(content, `whsec_${base64}`))), ['key_with_prefix'])
  const decoded = Buffer.from(`whsec_${base64}`, 'base64')
  t.same(codesOf(sent(hash(content, decoded))), ['key_decoded_with_prefix'])
})

// One step of each kind; the first does nothing.
const keysOfSenders: [string[], string | Buffer][] = [
  [[], secret.key],
  [['key_not_decoded'], base64],
  [['key_with_prefix'], `whsec_${base64}`],
]
const partsOfSenders: [string[], (time: string) => string[]][] = [
  [[], (time) => [id, time]],
  [['signed_without_id'], (time) => [time]],
  [['signed_in_other_order'], (time) => [time, id]],
]
const separatorsOfSenders: [string[], string][] = [
  [[], '.'],
  [['signed_without_separators'], ''],
  [['signed_with_other_separators'], ':'],
]
const timesOfSenders: [string[], string][] = [
  [[], timestamp],
  [['signed_milliseconds'], `${timestamp}000`],
]
const bodiesOfSenders: [string[], string][] = [
  [[], text],
  [['body_newline'], `${text}\n`],
  [['body_rewritten'], JSON.stringify(JSON.parse(text), null, 2)],
]
const signaturesOfSenders: [string[], (digest: Buffer) => string][] = [
  [[], (digest) => digest.toString('hex')],
  [['signature_base64'], (digest) => digest.toString('base64')],
  [['signature_prefix'], (digest) => `sha256=${digest.toString('hex')}`],
  [['signature_base64', 'signature_prefix'], (digest) => `sha256=${digest.toString('base64')}`],
]

t.test('combined mistakes are all found, and no others are reported', async (t) => {
  let found = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...keysOfSenders),
      fc.constantFrom(...partsOfSenders),
      fc.constantFrom(...separatorsOfSenders),
      fc.constantFrom(...timesOfSenders),
      fc.constantFrom(...bodiesOfSenders),
      fc.constantFrom(...signaturesOfSenders),
      (key, parts, separator, time, body, signature) => {
        const content = [...parts[1](time[1]), body[1]].join(separator[1])
        const made = [key, parts, separator, time, body, signature].flatMap(([codes]) => codes)
        const codes = codesOf(sentAs(signature[1](hash(content, key[1]))))
        const wanted = made.length === 0 ? ['signature_matches'] : made
        if (codes.length === wanted.length && codes.every((code) => wanted.includes(code))) return ++found > 0
        // With more than three mistakes the budget may end before the search.
        return made.length - signature[0].length > 3 && codes.at(-1) === 'no_match'
      },
    ),
    { numRuns: 150 },
  )
  t.ok(found > 75)
})
