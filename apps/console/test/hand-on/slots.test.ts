import t from 'tap'
import { Slots, usualSlots, waitingSlots } from '../../src/hand-on/slots.js'

const takeMany = (
  slots: Slots,
  count: number,
  bearer: (i: number) => string,
  address: (i: number) => string,
) => Array.from({ length: count }, (_, i) => slots.take(address(i), bearer(i)))

t.test('a session takes 8 slots, an address 32, and all together 64', async (t) => {
  const refused = (taken: unknown[]) => taken.filter((one) => typeof one === 'string')
  t.strictSame(
    refused(
      takeMany(
        new Slots(usualSlots),
        10,
        () => 'one',
        () => 'a',
      ),
    ),
    ['user', 'user'],
  )
  t.strictSame(
    refused(
      takeMany(
        new Slots(usualSlots),
        34,
        (i) => `${i}`,
        () => 'a',
      ),
    ),
    ['address', 'address'],
  )
  t.strictSame(
    refused(
      takeMany(
        new Slots(usualSlots),
        66,
        (i) => `${i}`,
        (i) => `${i}`,
      ),
    ),
    ['all', 'all'],
  )
})

t.test('a slot is given back once', async (t) => {
  const slots = new Slots(usualSlots)
  const taken = takeMany(
    slots,
    8,
    () => 'one',
    () => 'a',
  )
  t.equal(slots.take('a', 'one'), 'user')
  const [first] = taken
  if (typeof first !== 'function') return t.fail('no slot')
  first()
  first()
  t.type(slots.take('a', 'one'), 'function')
  t.equal(slots.take('a', 'one'), 'user', 'the second call gave nothing back')
})

t.test('requests that wait for events have slots of their own, and a session few of them', async (t) => {
  const slots = new Slots(waitingSlots)
  const taken = takeMany(
    slots,
    600,
    (i) => `${i}`,
    (i) => `${i}`,
  )
  t.equal(taken.filter((one) => typeof one === 'function').length, 512)
  t.equal(taken.at(-1), 'all')
  t.equal(
    takeMany(
      new Slots(waitingSlots),
      9,
      () => 'one',
      () => 'a',
    ).at(-1),
    'user',
  )
})
