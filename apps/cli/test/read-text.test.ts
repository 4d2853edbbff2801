import t from 'tap'
import { decodeText } from '../src/read-text.js'

const latin1 = (text: string) => Buffer.from(text, 'latin1')

t.test('what is not UTF-8 is named with its line and its byte', async (t) => {
  const cases: [bytes: Buffer, message: string][] = [
    [
      latin1('version: 1\nrules:\n  - name: Prüfung\n'),
      'f.yaml:3: is not UTF-8 (near byte 31): save the file as UTF-8.',
    ],
    [latin1('é'), 'f.yaml:1: is not UTF-8 (near byte 1): save the file as UTF-8.'],
    [
      Buffer.from('a\r\nGrüße').subarray(0, 6),
      'f.yaml:2: is not UTF-8 (near byte 6): save the file as UTF-8.',
    ],
    [Buffer.from([0x61, 0xed, 0xa0, 0x80]), 'f.yaml:1: is not UTF-8 (near byte 2): save the file as UTF-8.'],
  ]
  for (const [bytes, message] of cases) t.throws(() => decodeText(bytes, 'f.yaml'), { message })
})

t.test('UTF-16 is named as such, with a mark or without', async (t) => {
  const text = 'version: 1\n'
  const little = Buffer.from(text, 'utf16le')
  const big = Buffer.from(little).swap16()
  for (const bytes of [
    little,
    big,
    Buffer.concat([Buffer.from([0xff, 0xfe]), little]),
    Buffer.concat([Buffer.from([0xfe, 0xff]), big]),
    Buffer.from([0xff, 0xfe]),
  ])
    t.throws(() => decodeText(bytes, 'f.yaml'), { message: /^f\.yaml is UTF-16, .*: save it as UTF-8/ })
})

t.test('UTF-8 is read as it is, without the mark of its beginning', async (t) => {
  for (const text of ['', 'a', 'Café', 'Cafe\u0301', 'a\r\nb\r\n', '😀', 'a\ufeffb', '\ufffd'])
    for (const mark of ['', '\ufeff']) t.equal(decodeText(Buffer.from(mark + text), 'f'), text)
})
