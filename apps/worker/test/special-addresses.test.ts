import t from 'tap'
import { createAddressGuard, RefusedCall } from '../src/effects/address-guard.js'
import {
  neighboursIpv4,
  neighboursIpv6,
  type Range,
  specialIpv4,
  specialIpv6,
} from './fixtures/iana-special-addresses.js'
import { readOutbound } from './fixtures/outbound.js'

const special: readonly Range[] = [...specialIpv4, ...specialIpv6]

function openGuard(variables: Record<string, string> = {}) {
  const guard = createAddressGuard(readOutbound(variables))
  return (address: string): boolean => {
    try {
      guard.checkAddress(address, 'x.example')
      return true
    } catch (error) {
      if (!(error instanceof RefusedCall)) throw error
      return false
    }
  }
}

t.test('neither the first nor the last address of any special range may be called', async (t) => {
  const mayReach = openGuard()
  t.equal(special.length, 46)
  for (const [first, last, name] of special)
    t.strictSame([mayReach(first), mayReach(last)], [false, false], `${first} to ${last}, ${name}`)
})

t.test('addresses next to a special range may be called', async (t) => {
  const mayReach = openGuard()
  const neighbours = [...neighboursIpv4, ...neighboursIpv6]
  t.equal(neighbours.length, 38)
  for (const address of neighbours) t.ok(mayReach(address), address)
})

t.test('a special IPv4 address may not be called in its IPv6 forms either', async (t) => {
  const mayReach = openGuard()
  for (const [first, last, name] of specialIpv4) {
    const spellings = [first, last].flatMap(embedInIpv6)
    t.strictSame(spellings.filter(mayReach), [], name)
  }
})

t.test('if an IPv6 translator is allowed, the IPv4 addresses behind it are checked', async (t) => {
  const mayReach = openGuard({ OUTBOUND_ALLOW: '64:ff9b::/96' })
  for (const [first, last, name] of specialIpv4)
    t.strictSame([first, last].map((address) => `64:ff9b::${address}`).filter(mayReach), [], name)
  for (const address of neighboursIpv4) t.ok(mayReach(`64:ff9b::${address}`), address)
  for (const address of [
    '64:ff9b::',
    '64:ff9b::1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::808:808',
  ])
    t.notOk(mayReach(address), address)
  t.ok(mayReach('64:ff9b::808:808'))
})

t.test('an allowed range may be called, and no address outside it', async (t) => {
  const mayReach = openGuard({ OUTBOUND_ALLOW: '10.1.0.0/16,fd00:1::/32' })
  for (const address of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', 'fd00:1::', 'fd00:1:ffff::1'])
    t.ok(mayReach(address), address)
  for (const address of ['10.0.255.255', '10.2.0.0', '::ffff:10.2.0.0', 'fd00:0:ffff::', 'fd00:2::'])
    t.notOk(mayReach(address), address)
})

t.test('a text that is not an address, or has a zone, may not be called', async (t) => {
  const mayReach = openGuard()
  const texts = [
    'x',
    '',
    '8.8.8',
    '8.8.8.8/8',
    '08.8.8.8',
    'fe80::1%eth0',
    '2606:4700::1%eth0',
    ' 8.8.8.8',
    '[::1]',
  ]
  for (const text of texts) t.notOk(mayReach(text), text)
})

t.test('well-known public addresses may be called', async (t) => {
  const mayReach = openGuard()
  for (const address of ['1.1.1.1', '8.8.8.8', '2606:4700::1111', '2a00:1450::1', '2620:0:2d0:200::8'])
    t.ok(mayReach(address), address)
})

function embedInIpv6(ipv4: string): string[] {
  const hex = Buffer.from(ipv4.split('.').map(Number)).toString('hex')
  const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`
  return [
    ...[`::ffff:${ipv4}`, `::ffff:${groups}`, `::${ipv4}`, `::ffff:0:${ipv4}`],
    ...[`64:ff9b::${ipv4}`, `64:ff9b::${groups}`, `64:ff9b:1::${ipv4}`],
    ...[`2002:${groups}::`, `2002:${groups}::1`, `2001::${groups}`],
  ]
}
