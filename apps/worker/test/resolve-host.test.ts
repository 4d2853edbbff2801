import { writeFile } from 'node:fs/promises'
import t from 'tap'
import { createResolver } from '../src/effects/guarded-connector.js'
import { serveDns } from './fixtures/dns.js'

const noHostsFile = '/nonexistent'
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
  const resolve = createResolver([server], noHostsFile)
  t.same(await resolve('both.example'), ['192.0.2.1', '192.0.2.2', '2606:4700::1'])
  t.same(await resolve('new.example'), ['2606:4700::1'])
})

t.test('an unknown name is an error that contains it', async (t) => {
  const { server } = await serveDns(t, { 'empty.example A': [], 'empty.example AAAA': [] })
  const resolve = createResolver([server], noHostsFile)
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
  const resolve = createResolver([server], noHostsFile)
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
  const resolve = createResolver([server], noHostsFile)
  for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.localhost.'])
    t.same(await resolve(name), ['127.0.0.1'], name)
  t.same(asked, [])
})

t.test('the hosts file has precedence over the servers', async (t) => {
  const { server, asked } = await serveDns(t, { 'other.example A': [[192, 0, 2, 1]] })
  const file = `${t.testdir({})}/hosts`
  await writeFile(
    file,
    '127.0.0.1\tlocalhost\n# 10.0.0.9 commented.example\n10.0.0.1  Host.Internal alias # not this\n::1 host.internal\n\n  10.0.0.2\tindented\n',
  )
  const resolve = createResolver([server], file)
  t.same(await resolve('host.internal'), ['10.0.0.1', '::1'])
  t.same(await resolve('HOST.internal.'), ['10.0.0.1', '::1'])
  t.same(await resolve('alias'), ['10.0.0.1'])
  t.same(await resolve('indented'), ['10.0.0.2'])
  t.same(asked, [])
  t.same(await resolve('other.example'), ['192.0.2.1'])
  await t.rejects(resolve('commented.example'))
})

t.test('a changed hosts file is read again after five seconds, not before', async (t) => {
  const { server } = await serveDns(t, {})
  const file = `${t.testdir({})}/hosts`
  let now = 1_000_000
  t.intercept(performance, 'now', { value: () => now })
  const resolve = createResolver([server], file)
  const write = (address: string) => writeFile(file, `${address} host.internal`)
  await write('10.0.0.1')
  t.same(await resolve('host.internal'), ['10.0.0.1'])
  await write('10.0.0.2')
  now += 5_000
  t.same(await resolve('host.internal'), ['10.0.0.1'])
  now += 1
  t.same(await resolve('host.internal'), ['10.0.0.2'])
  await write('10.0.0.3')
  now += 5_000
  t.same(await resolve('host.internal'), ['10.0.0.2'])
})
