import t from 'tap'
import { compileRule } from '../src/planning/compile-rule.js'
import { planRule } from '../src/planning/run.js'
import { Evaluation } from '../src/work/evaluation.js'
import { faultsOf, planOne } from './fixtures/plan-one.js'

const mailTo = (config: object, data: object) =>
  planOne('SEND_EMAIL', { subject: 'x', template: 'x', ...config }, data)

const data = {
  a: 'ada@acme.com',
  team: ['bo@acme.com', 'Ada@Acme.com', null, '', 'cy@acme.com'],
  none: [],
  two: 'ada@acme.com, eve@evil.example',
}

t.test(
  'recipients are one address or a list, and a placeholder that is a list stands for its items',
  async (t) => {
    t.equal(mailTo({ to: '{{a}}' }, data).config.to, 'ada@acme.com')
    const { config, fault, warnings } = mailTo(
      { to: ['{{a}}', '{{team}}', 'dee@acme.com'], cc: '{{team}}' },
      data,
    )
    t.equal(fault, undefined)
    t.strictSame(config.to, ['ada@acme.com', 'bo@acme.com', 'cy@acme.com', 'dee@acme.com'])
    t.strictSame(config.cc, ['bo@acme.com', 'Ada@Acme.com', 'cy@acme.com'])
    t.strictSame(warnings, [
      'config.to has an empty address, which was left out',
      'config.cc has an empty address, which was left out',
    ])
    t.strictSame(
      mailTo({ to: ['a@b.io', 'A@b.io', 'c@d.io'] }, {}).config.to,
      ['a@b.io', 'c@d.io'],
      'constants',
    )
  },
)

t.test('what is missing is left out of a list; a mail without any recipient fails', async (t) => {
  const { config, fault, warnings } = mailTo({ to: ['{{a}}', '{{no}}'], bcc: ['{{no}}'] }, data)
  t.equal(fault, undefined)
  t.strictSame([config.to, config.bcc], [['ada@acme.com'], []])
  t.strictSame(warnings.slice(0, 2), ['no is missing', 'config.to has an empty address, which was left out'])
  t.equal(mailTo({ to: ['{{no}}'] }, data).fault, 'config.to must have at least 1 item: {{no}} is missing')
  t.equal(mailTo({ to: '{{none}}' }, data).fault, 'config.to must have at least 1 item: {{none}} is a list')
  t.match(mailTo({ to: '{{no}}' }, data).fault, /config.to must have at least 1 character: {{no}} is missing/)
})

t.test('cc, bcc and replyTo that come to nothing are left out, and only to decides', async (t) => {
  const fields = { cc: '{{boss}}', bcc: '{{boss}}', replyTo: '{{owner}}' }
  for (const [boss, owner] of [
    [undefined, undefined],
    ['', '  '],
    [null, null],
    ['\u00a0', '\n'],
  ]) {
    const { config, fault, warnings } = mailTo({ to: '{{a}}', ...fields }, { ...data, boss, owner })
    t.equal(fault, undefined)
    t.strictSame(config, { to: 'ada@acme.com', subject: 'x', template: 'x' })
    t.match(
      warnings.filter((warning) => warning.includes('left out')),
      [
        'config.cc is empty, so it was left out',
        'config.bcc is empty, so it was left out',
        'config.replyTo is empty, so it was left out',
      ],
    )
  }
  const one = mailTo({ to: '{{a}}', ...fields, cc: 'x{{boss}}@acme.com' }, { ...data, owner: 'bo@acme.com' })
  t.strictSame([one.config.cc, one.config.replyTo], ['x@acme.com', 'bo@acme.com'])
  t.match(mailTo({ to: '{{a}}', cc: '{{boss}}@acme.com' }, data).fault, /config.cc must be one email address/)
  t.match(mailTo({ to: '{{boss}}', cc: '{{a}}' }, data).fault, /config.to must have at least 1 character/)
})

t.test('blanks around an address are no part of it', async (t) => {
  for (const blank of [' ', '\t', '\u00a0', '\r\n', '\ufeff', '\u3000']) {
    const [a, team] = [`${blank}ada@acme.com${blank}`, ['bo@acme.com', `bo@acme.com${blank}`]]
    const { config, fault } = mailTo(
      { to: '{{a}}', cc: ['{{a}}'], bcc: '{{team}}', replyTo: '{{a}}' },
      { a, team },
    )
    t.equal(fault, undefined)
    t.match(config, {
      to: 'ada@acme.com',
      cc: ['ada@acme.com'],
      bcc: ['bo@acme.com'],
      replyTo: 'ada@acme.com',
    })
  }
  t.match(mailTo({ to: '{{a}}' }, { a: 'ada @acme.com' }).fault, /one email address/)
  t.match(mailTo({ to: 'x{{a}}' }, { a: ' y@acme.com' }).fault, /one email address/)
})

t.test('a text is exactly one address, wherever it stands', async (t) => {
  t.match(mailTo({ to: '{{two}}' }, data).fault, /config.to must be one email address/)
  t.equal(
    mailTo({ to: ['{{a}}', '{{two}}'] }, data).fault,
    'config.to[1] must be one email address, without a name: "ada@acme.com, eve@evil.example"',
  )
  const hostile = [
    'a@x.io\r\nBcc: eve@evil.example',
    'a@x.io\nBcc: eve@evil.example',
    'a@x.io;eve@evil.example',
    'Ada <a@x.io>',
    'a@x.io，y.io',
    7,
    true,
    ['a@x.io'],
    { address: 'a@x.io' },
  ]
  for (const one of hostile)
    for (const to of ['{{list}}', ['{{list}}']])
      t.match(
        mailTo({ to }, { list: ['b@x.io', one] }).fault,
        /^config\.to\[1\] must be /,
        JSON.stringify(one),
      )
})

t.test('a list has at most 50 addresses, also if a placeholder has more', async (t) => {
  const list = (length: number) => Array.from({ length }, (_, n) => `p${n}@x.io`)
  t.equal(mailTo({ to: '{{list}}' }, { list: list(50) }).fault, undefined)
  t.equal(
    mailTo({ to: '{{list}}' }, { list: list(51) }).fault,
    'config.to must have at most 50 items: {{list}} is a list',
  )
  t.match(
    mailTo({ to: 'a@b.io', cc: ['{{list}}', 'x@y.io'] }, { list: list(50) }).fault,
    /config.cc must have at most 50 items/,
  )
  t.equal(
    mailTo({ to: '{{list}}' }, { list: [...list(50), ...list(50)] }).fault,
    undefined,
    'doubles count once',
  )
  const many = Array(20_000).fill('a@b.io')
  const rule = {
    conditions: [],
    actions: [
      {
        type: 'SEND_EMAIL' as const,
        config: { to: Array(50).fill('{{many}}'), subject: 'x', template: 'x' },
      },
    ],
  }
  const startedAt = process.cpuUsage()
  t.match(planRule(compileRule(rule), { many }, 0).actions, [
    { fault: /evaluation limit of 1000000 cost units/ },
  ])
  t.ok(process.cpuUsage(startedAt).user < 500_000)
  t.ok(new Evaluation(0).affords(1))
})

t.test(
  'a name around an address is refused when the rule is saved, as it is when it is rendered',
  async (t) => {
    const base = { subject: 'x', template: 'x' }
    const fault = 'Must be one email address, without a name'
    for (const to of ['"Doe, J" <{{e}}>', 'Jane <{{e}}>', '{{a}}, {{b}}', '{{a}} {{b}}', '{{a}}@x@y'])
      t.strictSame(faultsOf('SEND_EMAIL', { ...base, to }), [`actions[0].config.to ${fault}`], to)
    t.strictSame(faultsOf('SEND_EMAIL', { ...base, to: 'a@b.io', replyTo: 'Jane <{{e}}>' }), [
      `actions[0].config.replyTo ${fault}`,
    ])
    for (const to of ['{{e}}', '{{a}}@{{b}}', '{{a}}+x@b.io', '{{e | default:"a, b"}}'])
      t.strictSame(faultsOf('SEND_EMAIL', { ...base, to }), [], to)
  },
)

t.test('a list that can be checked is checked when the rule is saved', async (t) => {
  const base = { subject: 'x', template: 'x' }
  t.strictSame(
    faultsOf('SEND_EMAIL', { ...base, to: ['a@b.io', '{{x}}', 'Ada <a@b.io>'], cc: ['a@b.io,c@d.io'] }),
    [
      'actions[0].config.to[2] Must be one email address, without a name',
      'actions[0].config.cc[0] Must be one email address, without a name',
    ],
  )
  t.match(faultsOf('SEND_EMAIL', { ...base, to: ['{{x | shout}}'] }), [
    /^actions\[0\]\.config\.to\[0\] Has an unknown filter/,
  ])
})
