import t from 'tap'
import { diagnose } from '../src/schemes/diagnose.js'
import { codesOf, content, digest, hash, id, secret, sent, text, timestamp } from './fixtures/sender.js'

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
    const [finding, ...others] = diagnose(
      sent(hash(`${id}.${timestamp}.${signed}`), { body }),
      [secret],
      true,
    )
    t.equal(finding?.code, 'body_changed', name)
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
    t.same(codesOf(delivery), ['body_changed'], travelled)
  }
})

t.test('a body that a parser has read and written again is reported', async (t) => {
  const cases: [string, string, string][] = [
    ['{"a":1.0,"b":1e2,"c":-0}', '{"a":1,"b":100,"c":0}', 'compact, with numbers as JavaScript reads them'],
    [
      '{"a":12345678901234567890}',
      '{"a":12345678901234567000}',
      'compact, with numbers as JavaScript reads them',
    ],
    [
      '{"a":0.10,"b":[1E-7,1e400]}',
      '{"a":0.1,"b":[1e-7,null]}',
      'compact, with numbers as JavaScript reads them',
    ],
    ['{"a":1,"b":2,"a":3}', '{"a":3,"b":2}', 'compact'],
    ['{"x":{"a":1,"a":{"b":1,"b":2}}}', '{"x":{"a":{"b":2}}}', 'compact'],
    ['{"b":1,"2":1,"10":1}', '{"2":1,"10":1,"b":1}', 'compact'],
    ['{"__proto__":1,"a":1.0}', '{"__proto__":1,"a":1}', 'compact, with numbers as JavaScript reads them'],
    ['{"a":1.0}', '{\n  "a": 1\n}', 'indented by 2 spaces, with numbers as JavaScript reads them'],
    [
      '{"b":1.0,"a":"<"}',
      '{"a":"\\u003c","b":1}',
      'compact, with <, > and & escaped, with its keys sorted, with numbers as JavaScript reads them',
    ],
    [
      '{"a":1,"b":"ä","a":2}',
      '{"a": 2, "b": "\\u00e4"}',
      "spaced as Python's json.dumps does, with non-ASCII letters escaped",
    ],
  ]
  for (const [travelled, signed, name] of cases) {
    for (const [body, content] of [
      [travelled, signed],
      [`\r\n${travelled} `, signed],
    ] as const) {
      const delivery = sent(hash(`${id}.${timestamp}.${content}`), { body: Buffer.from(body) })
      const [finding, ...others] = diagnose(delivery, [secret], true)
      t.equal(finding?.code, 'body_changed', travelled)
      t.match(finding?.message, `(what was signed is ${name})`)
      t.same(others, [])
    }
  }
})

t.test('line breaks of the other kind are reported', async (t) => {
  const lf = '{\n\t"a": 1.0,\n\n\t"b": "x" }\n'
  const crlf = lf.replaceAll('\n', '\r\n')
  const find = (signed: string, travelled: string) =>
    diagnose(sent(hash(`${id}.${timestamp}.${signed}`), { body: Buffer.from(travelled) }), [secret], true)
  t.match(find(crlf, lf), [{ code: 'body_changed', message: 'the same text with CRLF as its line breaks' }])
  t.match(find(lf, crlf), [{ code: 'body_changed', message: 'the same text with LF as its line breaks' }])
  t.match(find(lf, lf.replace('\n', '\r\n')), [{ code: 'body_changed', message: 'with LF' }], 'mixed ones')
  for (const spaces of [2, 4]) {
    const pretty = JSON.stringify(JSON.parse(text), null, spaces).replaceAll('\n', '\r\n')
    t.match(find(pretty, text), [
      { code: 'body_changed', message: `indented by ${spaces} spaces, with CRLF as its line breaks` },
    ])
  }
})

t.test('a line break added or removed at the end of the body is reported', async (t) => {
  for (const lineBreak of ['\n', '\r\n']) {
    t.same(codesOf(sent(digest, { body: Buffer.from(text + lineBreak) })), ['body_newline'])
    t.same(codesOf(sent(hash(content + lineBreak))), ['body_newline'])
    const other = lineBreak === '\n' ? '\r\n' : '\n'
    t.same(codesOf(sent(hash(content + other), { body: Buffer.from(text + lineBreak) })), ['body_changed'])
  }
})
