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

t.test('a body that a parser has read and written again is reported', async (t) => {
  const cases: [string, string, string][] = [
    [
      '{"a":1.0,"b":1e2,"c":-0}',
      '{"a":1,"b":100,"c":0}',
      'compact, with numbers and keys as JavaScript reads them',
    ],
    [
      '{"a":12345678901234567890}',
      '{"a":12345678901234567000}',
      'compact, with numbers and keys as JavaScript reads them',
    ],
    [
      '{"a":0.10,"b":[1E-7,1e400]}',
      '{"a":0.1,"b":[1e-7,null]}',
      'compact, with numbers and keys as JavaScript reads them',
    ],
    ['{"a":1,"b":2,"a":3}', '{"a":3,"b":2}', 'compact, with numbers and keys as JavaScript reads them'],
    [
      '{"x":{"a":1,"a":{"b":1,"b":2}}}',
      '{"x":{"a":{"b":2}}}',
      'compact, with numbers and keys as JavaScript reads them',
    ],
    [
      '{"b":1,"2":1,"10":1}',
      '{"2":1,"10":1,"b":1}',
      'compact, with numbers and keys as JavaScript reads them',
    ],
    [
      '{"__proto__":1,"a":1.0}',
      '{"__proto__":1,"a":1}',
      'compact, with numbers and keys as JavaScript reads them',
    ],
    ['{"a":1.0}', '{\n  "a": 1\n}', 'indented by 2 spaces, with numbers and keys as JavaScript reads them'],
    [
      '{"b":1.0,"a":"<"}',
      '{"a":"\\u003c","b":1}',
      'compact, with <, > and & escaped, with its keys sorted, with numbers and keys as JavaScript reads them',
    ],
    [
      '{"a":1,"b":"ä","a":2}',
      '{"a": 2, "b": "\\u00e4"}',
      "spaced as Python's json.dumps does, with non-ASCII letters escaped, with numbers and keys as JavaScript reads them",
    ],
  ]
  for (const [travelled, signed, name] of cases) {
    for (const [body, content] of [
      [travelled, signed],
      [`\r\n${travelled} `, signed],
    ] as const) {
      const delivery = sent(hash(`${id}.${timestamp}.${content}`), { body: Buffer.from(body) })
      const [finding, ...others] = diagnose(delivery, [secret])
      t.equal(finding?.code, 'body_rewritten', travelled)
      t.match(finding?.message, `(what was signed is ${name})`)
      t.same(others, [])
    }
  }
})

t.test('line breaks of the other kind are reported', async (t) => {
  const lf = '{\n\t"a": 1.0,\n\n\t"b": "x" }\n'
  const crlf = lf.replaceAll('\n', '\r\n')
  const find = (signed: string, travelled: string) =>
    diagnose(sent(hash(`${id}.${timestamp}.${signed}`), { body: Buffer.from(travelled) }), [secret])
  t.match(find(crlf, lf), [{ code: 'body_rewritten', message: 'the same text with CRLF as its line breaks' }])
  t.match(find(lf, crlf), [{ code: 'body_rewritten', message: 'the same text with LF as its line breaks' }])
  t.match(find(lf, lf.replace('\n', '\r\n')), [{ code: 'body_rewritten', message: 'with LF' }], 'mixed ones')
  for (const spaces of [2, 4]) {
    const pretty = JSON.stringify(JSON.parse(text), null, spaces).replaceAll('\n', '\r\n')
    t.match(find(pretty, text), [
      { code: 'body_rewritten', message: `indented by ${spaces} spaces, with CRLF as its line breaks` },
    ])
  }
})

t.test('a line break added or removed at the end of the body is reported', async (t) => {
  for (const lineBreak of ['\n', '\r\n']) {
    t.same(codesOf(sent(digest, { body: Buffer.from(text + lineBreak) })), ['body_newline'])
    t.same(codesOf(sent(hash(content + lineBreak))), ['body_newline'])
    const other = lineBreak === '\n' ? '\r\n' : '\n'
    t.same(codesOf(sent(hash(content + other), { body: Buffer.from(text + lineBreak) })), ['body_newline'])
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
