import { hash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { createSealer } from '../src/sealing.js'

const newKey = () => randomBytes(32).toString('base64')
const [key, nextKey] = [newKey(), newKey()]
const sealer = createSealer(key)
const plain = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))

t.test('a sealed value opens under its own context, unchanged', async () => {
  fc.assert(
    fc.property(plain, fc.string({ unit: 'grapheme' }), (bytes, context) =>
      sealer.open(sealer.seal(bytes, context), context).equals(bytes),
    ),
  )
})

t.test('a sealed value does not contain the plain one, and differs each time', async () => {
  fc.assert(
    fc.property(plain, (bytes) => {
      fc.pre(bytes.length >= 8)
      const [one, two] = [sealer.seal(bytes, 'x'), sealer.seal(bytes, 'x')]
      return !one.equals(two) && !one.includes(bytes) && one.length === bytes.length + 33
    }),
  )
})

t.test('a sealed value with one flipped bit does not open', async (t) => {
  const sealed = sealer.seal(randomBytes(32), 'x')
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const flipped = Buffer.from(sealed)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    t.throws(() => sealer.open(flipped, 'x'))
  }
})

t.test('a sealed value that was shortened or lengthened does not open', async (t) => {
  const sealed = sealer.seal(randomBytes(32), 'x')
  for (let length = 0; length < sealed.length; length++)
    t.throws(() => sealer.open(sealed.subarray(0, length), 'x'))
  t.throws(() => sealer.open(Buffer.concat([sealed, Buffer.alloc(1)]), 'x'))
})

t.test('a sealed value opens neither under another context nor with another key', async (t) => {
  const other = createSealer(nextKey)
  fc.assert(
    fc.property(plain, fc.string(), fc.string(), (bytes, context, another) => {
      fc.pre(context !== another)
      const sealed = sealer.seal(bytes, context)
      t.throws(() => sealer.open(sealed, another))
      t.throws(() => other.open(sealed, context))
    }),
  )
})

t.test('the first of several keys seals, and each of them opens', async () => {
  const rotating = createSealer(`${nextKey}, ${key}`)
  const next = createSealer(nextKey)
  fc.assert(
    fc.property(
      plain,
      (bytes) =>
        next.open(rotating.seal(bytes, 'x'), 'x').equals(bytes) &&
        rotating.open(sealer.seal(bytes, 'x'), 'x').equals(bytes),
    ),
  )
})

t.test('a sealed value begins with 1 and the id of its key', async (t) => {
  const id = hash('sha256', Buffer.from(key, 'base64'), 'buffer').subarray(0, 4)
  t.same(sealer.seal(randomBytes(32), 'x').subarray(0, 5), Buffer.concat([Buffer.from([1]), id]))
})

t.test('a value is sealed again unless the first key has sealed it', async (t) => {
  const rotating = createSealer(`${nextKey},${key}`)
  const bytes = randomBytes(32)
  const sealed = sealer.seal(bytes, 'x')
  const again = rotating.reseal(sealed, 'x')
  t.same(again && createSealer(nextKey).open(again, 'x'), bytes)
  t.equal(again && rotating.reseal(again, 'x'), undefined)
  t.throws(() => rotating.reseal(sealed, 'y'))
  t.throws(() => createSealer(newKey()).reseal(sealed, 'x'))
})

t.test('a key of another length is refused', async (t) => {
  for (const length of [0, 16, 31, 33])
    t.throws(() => createSealer(randomBytes(length).toString('base64')).seal(Buffer.alloc(1), 'x'))
})
