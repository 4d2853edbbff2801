import { writeFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { createResolver } from '../src/effects/create-resolver.js'
import { listNames, readResolvConf } from '../src/effects/read-resolv-conf.js'
import { serveDns } from './fixtures/dns.js'

const noFile = '/nonexistent'

/** A resolver whose resolv.conf has these lines. */
function resolverOf(t: Test, lines: string[], hostsFile = noFile) {
  const file = `${t.testdir({ 'resolv.conf': lines.join('\n') })}/resolv.conf`
  return createResolver(hostsFile, file)
}
const ipv6 = [0x26, 0x06, 0x47, 0, ...Array(11).fill(0), 1]

t.test('all addresses of a name are found, IPv4 first', async (t) => {
  const { server } = await serveDns(t, {
    'both.example A': [
      [192, 0, 2, 1],
      [192, 0, 2, 2],
    ],
    'both.example AAAA': [ipv6],
    'new.example AAAA': [ipv6],
  })
  const resolve = resolverOf(t, [`nameserver ${server}`])
  t.same(await resolve('both.example'), ['192.0.2.1', '192.0.2.2', '2606:4700::1'])
  t.same(await resolve('new.example'), ['2606:4700::1'])
})

t.test('an unknown name is an error that contains it', async (t) => {
  const { server } = await serveDns(t, { 'empty.example A': [], 'empty.example AAAA': [] })
  const resolve = resolverOf(t, [`nameserver ${server}`])
  await t.rejects(resolve('unknown.example'), { message: 'No address of unknown.example: ENOTFOUND' })
  await t.rejects(resolve('empty.example'), { message: 'No address of empty.example: ENODATA' })
  await t.rejects(resolve('a..b'), { message: /No address of a\.\.b/ })
})

t.test('names whose servers never respond delay no other look-up', async (t) => {
  const silent = Array.from({ length: 100 }, (_, index) => `n${index}.tarpit.example`)
  const { server, asked, release } = await serveDns(t, {
    ...Object.fromEntries(
      silent.flatMap((name) => [
        [`${name} A`, 'silent'],
        [`${name} AAAA`, 'silent'],
      ]),
    ),
    'good.example A': [[192, 0, 2, 1]],
  })
  const resolve = resolverOf(t, [`nameserver ${server}`])
  let ended = 0
  const hanging = silent.map((name) => resolve(name).finally(() => ended++))
  t.same(await resolve('good.example'), ['192.0.2.1'])
  t.equal(ended, 0)
  t.ok(asked.length > 200, 'all were queried')
  release()
  for (const result of await Promise.allSettled(hanging)) t.equal(result.status, 'rejected')
})

t.test('localhost and its subdomains are this machine, without a query', async (t) => {
  const { server, asked } = await serveDns(t, {})
  const resolve = resolverOf(t, [`nameserver ${server}`])
  for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.localhost.'])
    t.same(await resolve(name), ['127.0.0.1'], name)
  t.same(asked, [])
})

t.test('the hosts file has precedence over the servers', async (t) => {
  const { server, asked } = await serveDns(t, { 'other.example A': [[192, 0, 2, 1]] })
  const dir = t.testdir({
    hosts:
      '127.0.0.1\tlocalhost\n# 10.0.0.9 commented.example\n10.0.0.1  Host.Internal alias # not this\n::1 host.internal\n\n  10.0.0.2\tindented\n',
    'resolv.conf': `nameserver ${server}\nsearch ns.svc`,
  })
  const resolve = createResolver(`${dir}/hosts`, `${dir}/resolv.conf`)
  t.same(await resolve('host.internal'), ['10.0.0.1', '::1'])
  t.same(await resolve('HOST.internal.'), ['10.0.0.1', '::1'])
  t.same(await resolve('alias'), ['10.0.0.1'])
  t.same(await resolve('indented'), ['10.0.0.2'])
  t.same(asked, [])
  t.same(await resolve('other.example'), ['192.0.2.1'])
  await t.rejects(resolve('commented.example'))
})

t.test('a changed file is read again after five seconds, not before', async (t) => {
  const old = await serveDns(t, { 'crm.one A': [[10, 0, 1, 1]], 'crm.two A': [[10, 0, 2, 1]] })
  const moved = await serveDns(t, { 'crm.two A': [[10, 0, 2, 2]] })
  const dir = t.testdir({ hosts: '10.0.0.1 host.internal', 'resolv.conf': '' })
  let now = 1_000_000
  t.intercept(performance, 'now', { value: () => now })
  const resolve = createResolver(`${dir}/hosts`, `${dir}/resolv.conf`)
  const write = async (name: string, text: string) => {
    await writeFile(`${dir}/${name}`, text)
    now += 5_000
  }
  await write('resolv.conf', `nameserver ${old.server}\nsearch one\n`)
  t.same(await resolve('host.internal'), ['10.0.0.1'])
  t.same(await resolve('crm'), ['10.0.1.1'])
  await write('hosts', '10.0.0.2 host.internal')
  await write('resolv.conf', `nameserver ${old.server}\nsearch two\n`)
  now -= 5_000
  t.same(await resolve('host.internal'), ['10.0.0.1'])
  t.same(await resolve('crm'), ['10.0.1.1'])
  now += 1
  t.same(await resolve('host.internal'), ['10.0.0.2'])
  t.same(await resolve('crm'), ['10.0.2.1'], 'the search domain')
  now += 1
  await write('resolv.conf', `nameserver ${moved.server}\nsearch two\n`)
  t.same(await resolve('crm'), ['10.0.2.2'], 'the server')
  now += 1
  await write('resolv.conf', '')
  t.same(await resolve('crm'), ['10.0.2.2'], 'a file that is just being written')
})

t.test('a short name is completed with the search domains, and a whole one is taken first', async (t) => {
  const { server, asked } = await serveDns(t, {
    'crm.ns.svc.cluster.local A': [[10, 0, 0, 1]],
    'crm.other.svc.cluster.local A': [[10, 0, 0, 2]],
    'crm.other A': [[192, 0, 2, 9]],
    'hooks.example.com A': [[192, 0, 2, 1]],
    'deep.a.b.c.d.e A': [[192, 0, 2, 2]],
    'deep.a.b.c.d.e.svc.cluster.local A': [[10, 0, 0, 3]],
    'new.ns.svc.cluster.local A': [],
    'new.cluster.local AAAA': [ipv6],
  })
  const resolve = resolverOf(t, [
    '# a pod of Kubernetes',
    `nameserver ${server}`,
    'search ns.svc.cluster.local svc.cluster.local cluster.local',
    'options ndots:5 timeout:1',
  ])
  t.same(await resolve('crm'), ['10.0.0.1'])
  t.same(await resolve('crm.other'), ['10.0.0.2'], 'not the host of the internet')
  t.same(await resolve('crm.other.'), ['192.0.2.9'], 'a dot ends a whole name')
  t.same(await resolve('hooks.example.com'), ['192.0.2.1'])
  t.same(await resolve('deep.a.b.c.d.e'), ['192.0.2.2'], 'five dots')
  t.same(await resolve('new'), ['2606:4700::1'])
  asked.length = 0
  await t.rejects(resolve('typo'), { message: 'No address of typo: ENOTFOUND' })
  t.same(
    asked.filter((question) => question.endsWith(' A')),
    ['typo.ns.svc.cluster.local A', 'typo.svc.cluster.local A', 'typo.cluster.local A', 'typo A'],
  )
})

t.test('only a name that does not exist gives way to the next one', async (t) => {
  const { server, asked } = await serveDns(t, {
    'crm.dev A': [[192, 0, 2, 1]],
    'crm.dev.ns.svc A': 'faulty',
    'web.dev A': [[192, 0, 2, 1]],
    'web.dev.ns.svc AAAA': 'faulty',
  })
  const resolve = resolverOf(t, [`nameserver ${server}`, 'search ns.svc', 'options ndots:5'])
  for (const name of ['crm.dev', 'web.dev'])
    await t.rejects(resolve(name), { message: `No address of ${name}: ESERVFAIL` })
  t.notOk(asked.includes('crm.dev A') || asked.includes('web.dev A'))
})

t.test('a resolv.conf is read as the C library reads it', (t) => {
  const cases: [string, object][] = [
    ['', { servers: [], search: [], ndots: 1 }],
    [
      'nameserver 10.0.0.1\n nameserver\t::1 # the second\r\n;nameserver 10.0.0.3',
      { servers: ['10.0.0.1', '::1'] },
    ],
    ['search a.b\nsearch c d', { search: ['c', 'd'] }],
    ['search a b\ndomain e f', { search: ['e'] }],
    ['domain e\nsearch a b', { search: ['a', 'b'] }],
    ['options ndots:2 rotate\noptions timeout:1', { ndots: 2 }],
    ['options ndots:2\noptions ndots:0', { ndots: 0 }],
    ['options ndots:x', { ndots: 1 }],
    ['nameserver\nsearch\noptions', { servers: [], search: [], ndots: 1 }],
  ]
  for (const [text, expected] of cases) t.match(readResolvConf(text), expected, text)
  const conf = { servers: [], search: ['a.', '.'], ndots: 1 }
  t.same(listNames('x', conf), ['x.a', 'x.', 'x'])
  t.same(listNames('x.y', conf), ['x.y', 'x.y.a', 'x.y.'])
  t.same(listNames('x.', conf), ['x.'])
  t.end()
})

t.test('a server that cannot be read leaves those that Node finds', async (t) => {
  await t.rejects(resolverOf(t, ['nameserver fe80::1%none', 'nameserver nonsense'])('a..b'), {
    message: /No address of a\.\.b/,
  })
})
