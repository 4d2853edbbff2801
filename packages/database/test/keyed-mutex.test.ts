import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { isDatabaseAway } from '../src/database-errors.js'
import { createKeyedMutex } from '../src/keyed-mutex.js'

t.test(
  'work for a key runs one after another, whether or not earlier work fails; another key does not wait',
  async (t) => {
    const serialize = createKeyedMutex()
    const done: string[] = []
    let finish = () => {}
    const isFinished = new Promise<void>((resolve) => (finish = resolve))
    const first = serialize('a', async () => {
      await isFinished
      done.push('first')
      throw new Error('It failed')
    })
    const second = serialize('a', async () => done.push('second'))
    await serialize('b', async () => done.push('other'))
    finish()
    await t.rejects(first, { message: 'It failed' })
    await second
    t.strictSame(done, ['other', 'first', 'second'])
  },
)

t.test(
  'work is refused at its deadline, while the work before it is still running, and later work runs',
  async (t) => {
    const serialize = createKeyedMutex()
    let finish = () => {}
    const slow = serialize('a', () => new Promise<void>((resolve) => (finish = resolve)))
    const late = await serialize('a', async () => t.fail('It was served'), 20).catch((error) => error)
    t.ok(isDatabaseAway(late))
    finish()
    await slow
    t.equal(await serialize('a', async () => 'served'), 'served')
  },
)

t.test('work that arrives while the second one runs waits for it, too', async (t) => {
  const serialize = createKeyedMutex()
  const done: string[] = []
  let begin = () => {}
  const hasBegun = new Promise<void>((resolve) => (begin = resolve))
  const first = serialize('a', async () => done.push('first'))
  const second = serialize('a', async () => {
    begin()
    await setImmediate()
    done.push('second')
  })
  await Promise.all([first, hasBegun])
  const third = serialize('a', async () => done.push('third'))
  await Promise.all([second, third])
  t.strictSame(done, ['first', 'second', 'third'])
})
