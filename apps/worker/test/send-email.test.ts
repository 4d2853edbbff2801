import type { Socket } from 'node:net'
import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import {
  type Answer,
  agree,
  closed,
  decodeWords,
  executionId,
  messageId,
  openMailServer,
  openPost,
  openScriptedServer,
  readHeaders,
} from './fixtures/mail.js'

t.test('without a mail server a mail is an .eml file, and a repeated delivery replaces it', async (t) => {
  const post = await openPost(t)
  const config = {
    to: '{{email}}',
    bcc: 'boss@example.com',
    subject: 'Hello {{name}}',
    variables: { Lead: '{{name}}' },
  }
  const data = { email: 'ada@example.com', name: 'Ada <b>' }
  t.match(await post.send({ config, data }), { status: 'success', output: { messageId } })
  await post.send({ config, data: { ...data, name: 'Eve' } })
  await post.send({ config, data })
  const [mail = '', ...others] = await post.files()
  t.same(others, [])
  t.match(mail, /^From: Rules <rules@example\.com>$/m)
  t.match(mail, /^To: ada@example\.com$/m)
  t.match(mail, /^Subject: Hello Ada <b>$/m)
  t.match(mail, new RegExp(`^Message-ID: ${messageId}$`, 'm'))
  t.match(mail, 'Lead: Ada <b>', 'as text')
  t.match(mail, 'Ada &lt;b&gt;', 'and escaped in HTML')
})

t.test('the built-in mail shows values of every type, as text and as escaped HTML', async (t) => {
  const post = await openPost(t)
  const variables = { Name: '<i>Ada</i>', Lead: { score: 7 }, Tags: ['a&b'], Hot: true, None: null }
  await post.send({ config: { variables }, ruleName: '<b>Hot</b> leads' })
  const [mail = ''] = await post.files()
  const read = mail.replaceAll('=\r\n', '').replaceAll('=3D', '=').replaceAll('=\n', '')
  for (const line of ['Name: <i>Ada</i>', 'Lead: {"score":7}', 'Tags: ["a&b"]', 'Hot: true', 'None: null'])
    t.match(read, line, 'as text')
  for (const part of [
    '<td style="white-space:pre-wrap">&lt;i&gt;Ada&lt;/i&gt;</td>',
    '<td style="white-space:pre-wrap">[&quot;a&amp;b&quot;]</td>',
    '&lt;b&gt;Hot&lt;/b&gt; leads',
  ])
    t.match(read, part, 'as HTML')
  await post.send()
  t.notMatch((await post.files())[0], /<table>/, 'without variables there is no table')
})

t.test('a subject is one line, even if its data contains line breaks', async (t) => {
  const post = await openPost(t)
  for (const it of [
    '\t',
    '\u0001',
    '\u000b',
    '\u0085',
    '\u2028',
    '\u2029',
    '\r\n',
    '\n \t\u2028'.repeat(9),
  ]) {
    await post.send({ unchecked: { subject: `a${it}b` } })
    t.match((await post.files())[0], /^Subject: a +b$/m, encodeURIComponent(it))
  }
})

t.test('to, cc, bcc and replyTo have their headers; a bcc is in no header', async (t) => {
  const server = await openMailServer(t)
  const post = await openPost(t, server.url)
  const config = {
    cc: 'bob@example.com',
    bcc: 'cy@example.com',
    replyTo: 'dee@example.com',
    subject: 'Grüße',
  }
  t.match(await post.send({ config }), { status: 'success' })
  const [{ sender, recipients, content } = { sender: '', recipients: [], content: '' }] = server.deliveries
  t.equal(sender, 'rules@example.com')
  t.same(recipients, ['ada@example.com', 'bob@example.com', 'cy@example.com'])
  const headers = readHeaders(content)
  matchLists(t, headers, {
    from: ['Rules <rules@example.com>'],
    to: ['ada@example.com'],
    cc: ['bob@example.com'],
    'reply-to': ['dee@example.com'],
    'message-id': [messageId],
    'auto-submitted': ['auto-generated'],
    'x-auto-response-suppress': ['OOF, AutoReply'],
  })
  t.equal(decodeWords(headers.subject?.[0] ?? ''), 'Grüße')
  t.notMatch(content, /cy@example/)
})

t.test('mails share connections, and closing the mailer ends them', async (t) => {
  const server = await openScriptedServer(t, agree)
  const post = await openPost(t, server.url)
  for (let round = 0; round < 5; round += 1) t.match(await post.send(), { status: 'success' })
  t.equal(server.sockets.length, 1)
  await Promise.all(Array.from({ length: 50 }, () => post.send()))
  t.equal(server.mails.length, 55)
  t.ok(server.sockets.length <= 10, 'few connections')
  post.close()
  await Promise.all(server.sockets.map(closed))
  t.match(await post.send(), { status: 'failed', error: /closed/ })
})

t.test('a connection that the server closes between mails loses none of them', async (t) => {
  const server = await openScriptedServer(t, (command, socket) => {
    if (command === '.') {
      socket.end('250 fine\r\n')
      return undefined
    }
    return agree(command)
  })
  const post = await openPost(t, server.url)
  for (let round = 0; round < 10; round += 1) t.match(await post.send(), { status: 'success' })
  t.equal(server.mails.length, 10)
})

t.test('the server’s reply decides whether a failure is final, and is part of the error', async (t) => {
  const stages: [string, string][] = [
    ['CONNECT', 'the connection'],
    ['MAIL', 'MAIL FROM'],
    ['RCPT', 'RCPT TO'],
    ['DATA', 'DATA'],
    ['.', 'DATA'],
  ]
  for (const [stage, name] of stages) {
    for (const [code, isFinal] of [
      [421, undefined],
      [450, undefined],
      [550, true],
      [554, true],
    ] as const) {
      const reply = `${code}-not this\r\n${code} one`
      const server = await openScriptedServer(t, (command) =>
        command.startsWith(stage) ? reply : agree(command),
      )
      const post = await openPost(t, server.url)
      const { effect, status, error } = await post.send()
      t.equal(status, 'failed')
      t.equal(error, `The mail server refused ${name}: ${code}-not this ${code} one`)
      t.equal(effect?.status === 'failed' && effect.isFinal, isFinal, `${stage} ${code}`)
      post.close()
    }
  }
})

t.test('the same holds for a server with pipelining', async (t) => {
  const server = await openMailServer(t, {
    onRcptTo: ({ address }, _session, done) => {
      const responseCode = { no: 550, later: 451 }[address.split('@')[0] ?? '']
      done(responseCode ? Object.assign(new Error('not here'), { responseCode }) : null)
    },
  })
  const post = await openPost(t, server.url)
  t.match((await post.send({ config: { to: 'no@example.com' } })).effect, {
    status: 'failed',
    error: 'The mail server refused RCPT TO: 550 not here',
    isFinal: true,
    output: { messageId },
  })
  t.match((await post.send({ config: { to: 'later@example.com' } })).effect, {
    error: /451 not here/,
    isFinal: undefined,
  })
  t.match(
    (await post.send({ config: { to: 'no@example.com', cc: 'later@example.com' } })).effect,
    { error: /451 not here/, isFinal: undefined },
    'a recipient with a temporary failure allows a retry',
  )
  t.same(server.deliveries, [])
  matchLists(t, await post.send({ config: { bcc: 'no@example.com', cc: 'later@example.com' } }), {
    status: 'success',
    warnings: [/built-in/, 'The mail server refused 2 of 3 recipients: 451 not here'],
  })
  matchLists(t, server.deliveries, [{ recipients: ['ada@example.com'] }])
})

t.test('many recipients get one mail in one transaction; those that are refused are listed', async (t) => {
  const server = await openMailServer(t, {
    onRcptTo: ({ address }, _session, done) => {
      const responseCode = { no: 550, later: 451 }[address.split('@')[0] ?? '']
      done(responseCode ? Object.assign(new Error('not here'), { responseCode }) : null)
    },
  })
  const post = await openPost(t, server.url)
  const team = Array.from({ length: 48 }, (_, n) => `p${n}@example.com`)
  const config = {
    to: ['{{owner}}', '{{team}}', 'no@example.com'],
    cc: ['{{missing}}', 'cc@example.com', 'p0@example.com'],
    bcc: ['later@example.com', 'bcc@example.com'],
  }
  const result = await post.send({ config, data: { owner: 'ada@example.com', team } })
  t.match(result, {
    status: 'success',
    output: { messageId, refused: ['no@example.com', 'later@example.com'] },
    warnings: [
      'missing is missing',
      'config.cc has an empty address, which was left out',
      /built-in/,
      /^The mail server refused 2 of 53 recipients: (?:550|451) not here$/,
    ],
  })
  t.equal(server.deliveries.length, 1)
  const [{ recipients, content } = { recipients: [], content: '' }] = server.deliveries
  t.strictSame(
    recipients.toSorted(),
    ['ada@example.com', ...team, 'cc@example.com', 'bcc@example.com'].toSorted(),
  )
  const headers = readHeaders(content)
  t.equal(headers.to?.[0], ['ada@example.com', ...team, 'no@example.com'].join(', '))
  t.equal(headers.cc?.[0], 'cc@example.com, p0@example.com')
  t.equal(headers.bcc, undefined)
  t.match(
    await post.send({ config: { cc: [], bcc: ['{{no}}'] } }),
    { status: 'success' },
    'an empty cc is none',
  )
  t.strictSame(server.deliveries[1]?.recipients, ['ada@example.com'])
})

t.test('if all of many recipients are refused, the mail fails as one does', async (t) => {
  const server = await openMailServer(t, {
    onRcptTo: ({ address }, _session, done) =>
      done(Object.assign(new Error('not here'), { responseCode: address.startsWith('later') ? 451 : 550 })),
  })
  const post = await openPost(t, server.url)
  const send = async (to: string[]) => (await post.send({ config: { to } })).effect
  t.match(await send(['no@example.com', 'not@example.com']), { status: 'failed', isFinal: true })
  t.match(await send(['no@example.com', 'later@example.com']), { status: 'failed', isFinal: undefined })
  t.strictSame(server.deliveries, [])
})

t.test('a refused login is a fault of the settings, so it is not final', async (t) => {
  const server = await openMailServer(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(new Error('who are you'), undefined),
  })
  const post = await openPost(t, server.url.replace('//', '//user:secret@'))
  const { effect } = await post.send()
  t.match(effect, { status: 'failed', error: /^The mail server refused AUTH PLAIN: 535 / })
  t.notMatch(effect, { isFinal: true })
  t.notMatch(JSON.stringify(effect), /secret/)
})

t.test('with requireTLS in SMTP_URL, a server without STARTTLS gets no mail', async (t) => {
  const server = await openMailServer(t)
  const post = await openPost(t, `${server.url}?requireTLS=true`)
  t.match((await post.send()).effect, { status: 'failed' })
  t.same(server.deliveries, [])
})

t.test('a refused connection to the mail server is not final', async (t) => {
  const causes: unknown[] = []
  const post = await openPost(t, 'smtp://127.0.0.1:1', (cause) => causes.push(cause))
  const { effect } = await post.send()
  t.match(effect, { status: 'failed', error: 'The mail server cannot be reached', isUnanswered: true })
  t.notMatch(effect, { isFinal: true })
  t.notMatch(JSON.stringify(effect), /127\.0/, 'the address of our mail server is not for tenants')
  t.match(causes, [{ message: 'connect ECONNREFUSED 127.0.0.1:1' }], 'but for the log')
})

t.test('nor does a mail server without an address tell its name', async (t) => {
  const causes: unknown[] = []
  const post = await openPost(t, 'smtp://mail.internal.invalid', (cause) => causes.push(cause))
  const { effect } = await post.send()
  t.match(effect, { status: 'failed', error: 'The mail server cannot be reached' })
  t.match(causes, [{ message: /mail\.internal/ }])
})

t.test('a directory that cannot be written is named in the log alone', async (t) => {
  const causes: unknown[] = []
  const post = await openPost(t, undefined, (cause) => causes.push(cause))
  await post.blockDirectory()
  const { effect } = await post.send()
  t.match(effect, { status: 'failed', error: 'The email could not be written' })
  t.match(causes, [{ message: /mail-/ }])
})

const cut: [string, Answer][] = [
  ['before the greeting', (_command, socket) => void socket.destroy()],
  ['before the greeting, in order', (_command, socket) => void socket.end()],
  ['after MAIL', (command, socket) => (command.startsWith('MAIL') ? drop(socket) : agree(command))],
  ['after DATA', (command, socket) => (command === 'DATA' ? drop(socket) : agree(command))],
  [
    'after the mail, before its reply',
    (command, socket) => (command === '.' ? drop(socket) : agree(command)),
  ],
  ['by talking nonsense', () => 'hello'],
]
for (const [when, answer] of cut) {
  t.test(`a mail is retried with the same Message-ID if the server disconnects ${when}`, async (t) => {
    let isBroken = true
    const server = await openScriptedServer(t, (command, socket) =>
      isBroken ? answer(command, socket) : agree(command),
    )
    const post = await openPost(t, server.url)
    const { effect } = await post.send()
    t.match(effect, {
      status: 'failed',
      error: /^The (connection to the )?mail server /,
      output: { messageId },
    })
    t.notMatch(effect, { isFinal: true })
    isBroken = false
    t.match(await post.send(), { status: 'success', output: { messageId } })
    t.ok(server.mails.length >= 1)
    for (const mail of server.mails) t.same(readHeaders(mail)['message-id'], [messageId])
  })
}

for (const stage of ['CONNECT', 'EHLO', 'MAIL', 'RCPT', 'DATA', '.']) {
  t.test(`a server without a response at ${stage} causes a timeout and a closed connection`, async (t) => {
    const server = await openScriptedServer(t, (command) =>
      command.startsWith(stage) ? undefined : agree(command),
    )
    const post = await openPost(t, server.url)
    const { effect } = await post.send({ timeoutMs: 1_000 })
    t.match(effect, { status: 'failed', error: 'The mail server did not accept the email within 1000 ms' })
    t.notMatch(effect, { isFinal: true })
    t.notMatch(effect, { isUnanswered: true }, 'a short timeout of a rule stops no mail of others')
    t.equal(server.sockets.length, 1)
    await Promise.all(server.sockets.map(closed))
  })
}

t.test('a mail that is cancelled during its transfer is not completed', async (t) => {
  let stopped: Socket | undefined
  const server = await openScriptedServer(t, (command, socket) => {
    if (command === 'DATA') {
      stopped = socket.pause()
      socket.removeAllListeners('data')
    }
    return agree(command)
  })
  const post = await openPost(t, server.url)
  // More than the buffers of both sockets: as HTML it has six times as many characters.
  const data = { much: '"'.repeat(1_000_000) }
  // On a busy machine it may take longer until the transfer has begun.
  for (let timeoutMs = 300; stopped === undefined && timeoutMs < 20_000; timeoutMs *= 2) {
    const result = await post.send({ config: { variables: { much: '{{much}}' } }, data, timeoutMs })
    t.match(result, { status: 'failed', error: `within ${timeoutMs} ms` })
  }
  let heard = ''
  stopped?.on('data', (chunk) => {
    heard += chunk
  })
  stopped?.resume()
  t.ok(stopped, 'the transfer had begun')
  if (stopped) await closed(stopped)
  t.notMatch(heard, /\r\n\.\r\n/)
  t.same(server.mails, [])
})

t.test('a mail that is cancelled while it waits for a connection is not sent', async (t) => {
  const waiting: (() => void)[] = []
  const server = await openScriptedServer(t, (command, socket) => {
    if (command !== 'CONNECT') return agree(command)
    waiting.push(() => socket.write('220 ready\r\n'))
    return undefined
  })
  const post = await openPost(t, server.url)
  const first = Array.from({ length: 10 }, () => post.send({ executionId: newId() }))
  t.match(await post.send({ timeoutMs: 150 }), { status: 'failed', error: /within 150 ms/ })
  for (const greet of waiting) greet()
  for (const { status } of await Promise.all(first)) t.equal(status, 'success')
  t.equal(server.mails.length, 10)
  for (const mail of server.mails) t.notMatch(mail, executionId)
})

t.test('a setting without exactly one sender fails at the start', async (t) => {
  const { createMailer } = await import('../src/effects/send-email.js')
  for (const from of ['', 'nobody', 'a@x.io, b@x.io', 'group: a@x.io;'])
    t.throws(() => createMailer({ url: undefined, from }, {} as never, () => {}, {} as never), /MAIL_FROM/)
})

function drop(socket: Socket): undefined {
  socket.destroy()
}
