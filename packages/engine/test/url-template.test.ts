import fc from 'fast-check'
import t from 'tap'
import { findRuleWarnings } from '../src/warnings/rule-warnings.js'
import { draws } from './fixtures/draws.js'
import { faultsOf, planOne } from './fixtures/plan-one.js'

const base = 'https://crm.example.com'

function fill(url: string, data: object) {
  const { config, fault } = planOne('SEND_WEBHOOK', { url, method: 'DELETE' }, data)
  return fault ?? config.url
}

t.test('an empty segment makes the action fail, and says which value is missing', async (t) => {
  const sentence = (state: string) => `config.url needs a value for {{id}}, which is ${state}`
  for (const url of [
    '/leads/{{id | urlencode}}',
    '/leads/{{id}}',
    '/leads/{{id}}/notes',
    '/lead-{{id}}.json?x=1',
  ]) {
    t.equal(fill(base + url, {}), sentence('missing'), url)
    t.equal(fill(base + url, { id: null }), sentence('null'), url)
    t.equal(fill(base + url, { id: '' }), sentence('empty'), url)
    t.equal(
      fill(base + url, { id: ' ' }),
      url.includes('urlencode') ? `${base}/leads/%20` : sentence('empty'),
    )
  }
  t.equal(fill(`${base}/leads/{{id | default:"none"}}`, {}), `${base}/leads/none`)
  t.match(planOne('SEND_NOTIFICATION', { url: `${base}/{{id}}`, text: 'x' }, {}).fault, sentence('missing'))
})

t.test('a value that is . or .. makes the action fail, however it is encoded', async (t) => {
  const sentence = 'config.url has a value . or .., which leads to another path'
  for (const url of [
    '/leads/{{id | urlencode}}',
    '/leads/{{id}}',
    '/leads/{{id}}/notes',
    '/leads/{{id}}?all=1#x',
  ])
    for (const id of ['.', '..', ...(url.includes('urlencode') ? [] : ['.. '])])
      t.equal(fill(base + url, { id }), sentence, `${url} ${id}`)
  for (const id of ['...', '.a', 'a..', '..a']) t.equal(fill(`${base}/{{id}}`, { id }), `${base}/${id}`)
  t.equal(fill(`${base}/{{a}}{{b}}`, { a: '.', b: '.' }), sentence, 'two values make one segment')
  t.equal(fill(`${base}/x?next={{v}}`, { v: '/../a' }), `${base}/x?next=/../a`, 'a query has no segments')
})

t.test('a value that is more than its part of the URL makes the action fail', async (t) => {
  const cases: [url: string, id: string, sign: string][] = [
    ['/leads/{{id}}', '7?admin=1', '"?"'],
    ['/leads/{{id}}', '../admin', '"/"'],
    ['/leads/{{id}}', '..\\admin', '"\\\\"'],
    ['/leads/{{id}}', '7#x', '"#"'],
    ['/leads/{{id}}', '..;', '";"'],
    ['/leads/{{id}}', '%2E%2e', '"%"'],
    ['/leads/{{id}}', 'a%2Fb', '"%"'],
    ['/leads?email={{id}}', 'ada+news@example.com', '"+"'],
    ['/leads?name={{id}}', '50% off', '"%"'],
    ['/leads/{{id}}/x', '.\t.', '"\\t"'],
    ['/leads?id={{id}}', '7&admin=1', '"&"'],
    ['/leads?id={{id}}', '7#', '"#"'],
    ['/leads?id={{id}}&x=1', '7\r\nx', '"\\r"'],
  ]
  for (const [url, id, sign] of cases)
    t.equal(
      fill(base + url, { id }),
      `config.url has ${sign} in {{id}}, which has a meaning in a URL: use urlencode`,
    )
  t.equal(fill(`${base}/leads?id={{id}}`, { id: 'a/b?c=d' }), `${base}/leads?id=a/b?c=d`)
  t.equal(fill(`${base}/leads#{{id}}`, { id: 'a/b?c#&' }), `${base}/leads#a/b?c#&`, 'this is not sent')
})

t.test('an encoded value fills its segment, whatever it is', async (t) => {
  for (const id of ['/', '?', '#', '&', '%', ' ', '\r\n', '../..', 'a;b', '@', ':', 'ü', 7, true]) {
    const encoded = encodeURIComponent(String(id))
    t.equal(fill(`${base}/leads/{{id | urlencode}}`, { id }), `${base}/leads/${encoded}`)
    t.equal(fill(`${base}/leads?id={{id | urlencode}}`, { id }), `${base}/leads?id=${encoded}`)
  }
  t.equal(fill(`${base}/leads?id={{id}}`, {}), `${base}/leads?id=`, 'an empty parameter is one')
})

t.test('a placeholder in a host fills one label', async (t) => {
  const url = 'https://{{tenant}}.crm.example/hook'
  for (const tenant of ['acme', 'ACME-7', 7])
    t.equal(fill(url, { tenant }), `https://${tenant}.crm.example/hook`)
  for (const tenant of [
    '127.0.0.1:8080/#',
    'a.b',
    'a.',
    '',
    null,
    undefined,
    'a/',
    'a@b',
    'a:1',
    'a#',
    'a?',
    'a\\',
    'a%2eb',
    'a。b',
    'a b',
    '[::1]',
    'ａ．ｂ',
    'x'.repeat(64),
  ])
    t.match(fill(url, { tenant }), 'must have one label of a host for {{tenant}}', String(tenant))
  t.equal(
    fill('https://eu-{{a}}.{{b | urlencode}}.crm.example:8443/x', { a: 'x', b: 'y' }),
    'https://eu-x.y.crm.example:8443/x',
  )
})

t.test(
  'a URL with a placeholder for its user name, port or domain is refused when it is saved',
  async (t) => {
    for (const url of [
      'https://{{host}}/hook',
      'https://{{host}}.com/hook',
      'https://{{name}}.co.uk',
      'https://{{name}}.com.au/x',
      'https://crm.{{domain}}/hook',
      'https://crm.example.{{top}}/hook',
      'https://crm.example.com:{{port}}/hook',
      'https://crm.example.com{{path}}',
      'https://{{user}}@crm.example.com/hook',
      'https://user:{{password}}@crm.example.com/hook',
      'https://{{a}}@{{b}}.crm.example.com/hook',
      'https://{{x}}.0.0.1/',
      'https://127.0.0.{{x}}/',
      'https://[::{{x}}]/',
      'https://{{x}}。example。com/',
      'https://{{x}}.example.com%2f.a.b/',
      'https://{{x}}..com/',
    ])
      t.match(
        faultsOf('SEND_WEBHOOK', { url }),
        [/^actions\[0\]\.config\.url Must have its domain and port written out/],
        url,
      )
    for (const url of [
      '{{scheme}}://example.com/',
      '{{base}}/leads',
      'https:///{{x}}/y',
      ' https://x.io/{{a}}',
      'https:/{{x}}',
    ])
      t.match(
        faultsOf('SEND_NOTIFICATION', { url, text: 'x' }),
        [/Must begin with http:\/\/ or https:\/\//],
        url,
      )
    t.match(faultsOf('SEND_WEBHOOK', { url: 'https://x.io/a/../{{b}}' }), [/Must not have \. or \.\./])
    t.match(faultsOf('SEND_WEBHOOK', { url: 'https://x.io/a\tb/{{b}}' }), [/Must be an http or https URL/])
    t.match(faultsOf('SEND_WEBHOOK', { url: 'https://x.io:99999/{{b}}' }), [/Must be an http or https URL/])
  },
)

t.test("a URL that is one placeholder is the data's own", async (t) => {
  for (const url of ['{{url}}', '{{ url | trim }}', '{{no | default:url}}']) {
    t.strictSame(faultsOf('SEND_WEBHOOK', { url }), [], url)
    t.equal(fill(url, { url: 'http://127.0.0.1:8080/a/../b?c#d' }), 'http://127.0.0.1:8080/a/../b?c#d')
    t.match(fill(url, { url: 'ftp://x.io' }), 'config.url must be an http or https URL')
  }
  t.match(
    fill('{{url}}', { url: ' https://x.io\n' }),
    'config.url must be an http or https URL, without blanks',
  )
  for (const url of [
    'http://{{tenant}}.crm.example/hook',
    'https://a.{{b}}.example.co.uk/',
    'https://x.io/{{a}}{{b}}',
  ])
    t.strictSame(faultsOf('SEND_WEBHOOK', { url }), [], url)
})

t.test('a value without urlencode is a warning in path and query', async (t) => {
  const warn = (url: string) => {
    const actions = [{ type: 'SEND_WEBHOOK' as const, config: { url } }]
    return findRuleWarnings({ trigger: 'LEAD_CREATED', conditions: [], actions })
  }
  t.strictSame(warn(`${base}/leads/{{id}}/{{id}}?status={{status | upper}}`), [
    {
      field: 'actions[0].config.url',
      message: '{{id}} has no filter urlencode: a value with / ? # & % or + may make the action fail',
    },
    {
      field: 'actions[0].config.url',
      message: '{{status}} has no filter urlencode: a value with / ? # & % or + may make the action fail',
    },
  ])
  for (const url of ['{{url}}', 'https://{{name}}.crm.example/', `${base}/{{id | urlencode}}#{{name}}`])
    t.strictSame(warn(url), [], url)
})

t.test('no value changes which parts a URL has', async () => {
  const piece = fc.constantFrom(
    '.',
    '..',
    '/',
    '\\',
    '?',
    '#',
    '&',
    ';',
    '@',
    ':',
    '%',
    '2e',
    '2F',
    '\t',
    '\n',
    ' ',
    '[',
    'a',
    '7',
  )
  const value = fc.oneof(
    fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join('')),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.jsonValue(),
  )
  const urls = [
    ['https://{{a}}.crm.example.com/x/{{b}}/y', 'https://A.crm.example.com/x/B/y'],
    ['https://crm.example.com/{{a}}-{{b}}', 'https://crm.example.com/A-B'],
    ['https://crm.example.com/{{a | urlencode}}/{{b}}', 'https://crm.example.com/A/B'],
    ['https://crm.example.com/x?a={{a}}&b={{b | urlencode}}', 'https://crm.example.com/x?a=A&b=B'],
    ['https://crm.example.com/{{a}}/?b={{b}}', 'https://crm.example.com/A/?b=B'],
  ] as const
  const partsOf = ({ protocol, host, pathname, search, hash, username, password }: URL) => [
    protocol,
    host.split('.').length,
    host.split('.').slice(-3).join('.'),
    pathname.split('/').map((part) => part !== ''),
    search === '' || search.split('&').length,
    hash,
    username + password,
  ]
  fc.assert(
    fc.property(fc.constantFrom(...urls), value, value, ([url, pattern], a, b) => {
      const { config, fault } = planOne('SEND_WEBHOOK', { url }, { a, b })
      if (fault !== undefined) return true
      return (
        JSON.stringify(partsOf(new URL(String(config.url)))) === JSON.stringify(partsOf(new URL(pattern)))
      )
    }),
    { numRuns: draws(5_000) },
  )
})
