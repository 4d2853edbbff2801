import { domainToASCII } from 'node:url'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { decodeWords, openMailServer, openPost, readHeaders } from './fixtures/mail.js'

const victim = 'victim@evil.example'
const long = 'a'.repeat(400)

/** Hostile values where a rule expects an address, a name or a line of text. */
const attacks = [
  // Line breaks of every kind, followed by a header, a body or a command.
  `a@x.example\r\nBcc: ${victim}`,
  `a@x.example\nBcc: ${victim}`,
  `a@x.example\rBcc: ${victim}`,
  `a@x.example\r\n Bcc: ${victim}`,
  `a@x.example\r\n\tBcc: ${victim}`,
  `a@x.example\r\n\r\nThe whole body`,
  `a@x.example\n\nThe whole body`,
  `\r\nBcc: ${victim}`,
  `\nX-Evil: yes\nTo: ${victim}`,
  `a@x.example%0d%0aBcc:${victim}`,
  `a@x.example%0ABcc:${victim}`,
  `a@x.example\\r\\nBcc: ${victim}`,
  `a@x.example\u000bBcc: ${victim}`,
  `a@x.example\fBcc: ${victim}`,
  `a@x.example\u0085Bcc: ${victim}`,
  `a@x.example\u2028Bcc: ${victim}`,
  `a@x.example\u2029Bcc: ${victim}`,
  // Characters that become CR and LF when they are cut to eight bits.
  `a@x.example\u560d\u560aBcc: ${victim}`,
  `a@x.example\u010d\u010aBcc: ${victim}`,
  `a@x.example\0Bcc: ${victim}`,
  'a@x.example\0',
  `a@x.example>\r\nRCPT TO:<${victim}`,
  `a@x.example>\r\nDATA\r\n.\r\n`,
  '\r\n.\r\nMAIL FROM:<a@x.example>\r\nRCPT TO:<victim@evil.example>\r\nDATA\r\n',
  '\n.\n',
  '\r.\r',
  // More than one recipient.
  `a@x.example, ${victim}`,
  `a@x.example,${victim}`,
  `a@x.example; ${victim}`,
  `a@x.example ${victim}`,
  `a@x.example\t${victim}`,
  `<a@x.example>, <${victim}>`,
  `<a@x.example><${victim}>`,
  `,${victim}`,
  `a@x.example，${victim}`,
  'a@x.example，y.example',
  'a@x.example；y.example',
  `friends: a@x.example, ${victim};`,
  `friends:${victim};`,
  ':;',
  // Display names.
  'Ann <a@x.example>',
  `"a@x.example" <${victim}>`,
  `"Ann, ${victim}," <a@x.example>`,
  `a@x.example <${victim}>`,
  `=?utf-8?Q?a=40x.example=2C_victim=40evil.example?= <a@x.example>`,
  `Ann" <${victim}>, "Bob <a@x.example>`,
  // Encoded words.
  '=?utf-8?Q?=0D=0ABcc:_victim=40evil.example?=',
  `=?utf-8?B?${Buffer.from(`\r\nBcc: ${victim}`).toString('base64')}?=`,
  '=?utf-8?Q?a?=@x.example',
  '=?utf-7?Q?+AA0ACg-?=',
  '=?utf-8?Q?a b?=',
  '=?=?utf-8?Q?a?=',
  // Quotes, comments, literals and routes.
  `"a@x.example, ${victim}"@x.example`,
  `"a b"@x.example`,
  '"\r\nBcc: victim@evil.example"@x.example',
  `a@x.example (${victim})`,
  `a(${victim})@x.example`,
  `a@[127.0.0.1]`,
  `a@[x@evil.example]`,
  `@evil.example:a@x.example`,
  `victim@evil.example@x.example`,
  `a\\@x.example`,
  `a%evil.example@x.example`,
  `evil.example!victim@x.example`,
  `-oQ/tmp -X/tmp/x@x.example`,
  // Letters that look like others, and characters that normalization changes.
  'аnn@x.example',
  'a@еxample.example',
  'grüße@x.example',
  'a@bücher.example',
  'ä@bücher.example',
  'a@ｘ.example',
  'a＠x.example',
  'a@x（victim）.example',
  'a@x＜.example',
  'a@⑴.example',
  'a@x\u200b.example',
  'a@x\u00ad.example',
  'a\u202e@x.example',
  'a@x.example\u202emoc.live',
  'a\ud800@x.example',
  'a@x\udc00.example',
  'a@ﷺ.example',
  'a@ͺ.example',
  // Long texts, and empty ones.
  `${long}@x.example`,
  `a@${'x.'.repeat(200)}example`,
  `a@${long}.example`,
  `a@x.example${' '.repeat(300)}${victim}`,
  long,
  '',
  ' ',
  '@',
  'a@',
  '{{other}}',
  '../../../etc/passwd',
]

const ownHeaders = [
  'from',
  'subject',
  'message-id',
  'date',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'auto-submitted',
  'x-auto-response-suppress',
]
const to = 'ada@example.com'

/** An address without blanks around it, with its domain in ASCII form, since a mail may be sent to either form. */
function normalise(written: string): string {
  const address = written.trim()
  const at = address.lastIndexOf('@')
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`
}

t.test('with any value for an address, one mail goes to exactly that address, or none is sent', async (t) => {
  const server = await openMailServer(t)
  const post = await openPost(t, server.url)
  const headerOf = { to: 'to', cc: 'cc', bcc: undefined, replyTo: 'reply-to' }
  let sent = 0
  for (const [field, header] of Object.entries(headerOf)) {
    for (const attack of attacks) {
      server.deliveries.length = 0
      const result = await post.send({ config: { [field]: '{{attack}}' }, data: { attack, other: victim } })
      const name = `${field}: ${inAscii(attack)}`
      const [delivery, ...more] = server.deliveries
      t.same(more, [], name)
      if (result.status === 'failed') {
        t.equal(delivery, undefined, name)
        continue
      }
      sent += 1
      // What comes to nothing is left out.
      const isThere = field === 'to' || attack.trim() !== ''
      const others = field !== 'replyTo' && isThere ? [normalise(attack)] : []
      const recipients = field === 'to' ? others : [to, ...others]
      t.same(delivery?.recipients.map(normalise), recipients, name)
      const headers = readHeaders(delivery?.content ?? '')
      t.same(headers.to?.map(normalise), [field === 'to' ? normalise(attack) : to], name)
      if (header) t.same(headers[header]?.map(normalise), isThere ? [normalise(attack)] : undefined, name)
      const allowed = ['to', ...ownHeaders, ...(header ? [header] : [])]
      t.same(
        Object.keys(headers).filter((key) => !allowed.includes(key)),
        [],
        name,
      )
      t.notMatch(delivery?.content, victim, name)
    }
  }
  t.ok(sent > 20, 'some of the values are valid addresses')
})

t.test('within a list, with any value for an address, each recipient is one that was written', async (t) => {
  const server = await openMailServer(t)
  const post = await openPost(t, server.url)
  let sent = 0
  for (const attack of attacks)
    for (const list of [['{{attack}}', '{{other}}'], '{{both}}']) {
      server.deliveries.length = 0
      const data = { attack, other: 'bo@example.com', both: [attack, 'bo@example.com'] }
      const { status } = await post.send({ config: { to, bcc: list }, data })
      const recipients = server.deliveries.flatMap((delivery) => delivery.recipients)
      if (status === 'failed') t.same(recipients, [], inAscii(attack))
      else {
        // An empty one is left out.
        const written = [to, attack, 'bo@example.com'].filter((address) => address.trim() !== '')
        t.same(recipients.map(normalise), written.map(normalise), inAscii(attack))
      }
      sent += recipients.length
    }
  t.ok(sent > 0, 'some of the values are valid addresses')
})

t.test('a value within an address cannot make it another address', async (t) => {
  let sent = 0
  const server = await openMailServer(t)
  const post = await openPost(t, server.url)
  for (const attack of attacks) {
    for (const [field, value] of [
      ['to', '{{attack}}@example.com'],
      ['bcc', 'ada@{{attack}}'],
    ] as const) {
      server.deliveries.length = 0
      const { status } = await post.send({ config: { [field]: value }, data: { attack } })
      const name = `${field}: ${inAscii(attack)}`
      const recipients = server.deliveries.flatMap((delivery) => delivery.recipients)
      if (status === 'failed') t.same(recipients, [], name)
      else t.equal(recipients.length, field === 'to' ? 1 : 2, name)
      sent += recipients.length
      if (field === 'to') for (const recipient of recipients) t.match(recipient, /@example\.com$/, name)
    }
  }
  t.ok(sent > 0, `${sent} were sent`)
})

t.test('an address that passed the engine unchecked adds no recipient and no header', async (t) => {
  let sent = 0
  const server = await openMailServer(t)
  const post = await openPost(t, server.url)
  for (const attack of attacks) {
    server.deliveries.length = 0
    const { status } = await post.send({ unchecked: { to: attack } })
    const name = inAscii(attack)
    t.equal(server.deliveries.length, status === 'success' ? 1 : 0, name)
    sent += server.deliveries.length
    for (const { recipients, content } of server.deliveries) {
      t.equal(recipients.length, 1, name)
      const headers = readHeaders(content)
      t.equal(headers.to?.length, 1, name)
      t.same(
        Object.keys(headers).filter((key) => !['to', ...ownHeaders].includes(key)),
        [],
        name,
      )
    }
  }
  t.ok(sent > 0, `${sent} were sent`)
})

t.test('a subject is one line with the original text, and adds no header', async (t) => {
  const server = await openMailServer(t)
  const post = await openPost(t, server.url)
  for (const attack of attacks) {
    server.deliveries.length = 0
    const subject = `Hello ${attack}`
    const { status } = await post.send({ config: { subject: 'Hello {{attack}}' }, data: { attack } })
    const name = inAscii(attack)
    t.equal(status, 'success', name)
    const [{ recipients, content } = { recipients: [], content: '' }, ...others] = server.deliveries
    t.same(others, [], name)
    t.same(recipients, [to], name)
    const headers = readHeaders(content)
    t.same(
      Object.keys(headers).filter((key) => !['to', ...ownHeaders].includes(key)),
      [],
      name,
    )
    t.same(headers.to, [to], name)
    t.equal(headers.subject?.length, 1, name)
    t.equal(inOneLine(decodeWords(headers.subject?.[0] ?? '')), inOneLine(subject), name)
  }
})

t.test('names and values of rules, templates and variables add no header', async (t) => {
  const server = await openMailServer(t)
  const post = await openPost(t, server.url)
  for (const attack of attacks) {
    server.deliveries.length = 0
    const name = inAscii(attack)
    const { status } = await post.send({
      config: { template: 'a{{attack | truncate:150}}', variables: { [attack]: '{{attack}}' } },
      data: { attack },
      ruleName: attack,
    })
    t.equal(status, 'success', name)
    const [{ recipients, content } = { recipients: [], content: '' }, ...others] = server.deliveries
    t.same(others, [], name)
    t.same(recipients, [to], name)
    const headers = readHeaders(content)
    t.same(
      Object.keys(headers).filter((key) => !['to', ...ownHeaders].includes(key)),
      [],
      name,
    )
    matchLists(t, headers, { to: [to], subject: ['Hello'] }, name)
    t.equal(content.match(/^Content-Type: /gm)?.length, 3, 'the mail, its text and its HTML')
  }
})

function inOneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

/** Escapes a value for a title, which a line separator would end. */
function inAscii(text: string): string {
  return JSON.stringify(text).replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
}
