import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import t from 'tap'
import { shareLongRead, takeLongRead } from '../src/lists/long-read.js'
import { sendList } from '../src/routes/rules/send-list.js'

const callerIn = (workspaceId: string, isGone = () => false) => ({ workspaceId, dueAt: 60_000, isGone })

t.test('the long reads of a workspace are one at a time, and those of others beside them', async (t) => {
  let atOnce = 0
  let most = 0
  const read = async () => {
    most = Math.max(most, ++atOnce)
    await delay(5)
    atOnce--
  }
  await Promise.all(['a', 'a', 'a'].map((id) => takeLongRead(callerIn(id), read)))
  t.equal(most, 1)
  await Promise.all(['a', 'b'].map((id) => takeLongRead(callerIn(id), read)))
  t.equal(most, 2)
})

t.test('after a long read the next one waits for as long again, also where it failed', async (t) => {
  for (const fail of [false, true]) {
    const startedAt = performance.now()
    const begunAt: number[] = []
    const read = (ms: number) => async () => {
      begunAt.push(performance.now() - startedAt)
      await delay(ms)
      if (ms > 0 && fail) throw new Error('cut off')
    }
    await Promise.allSettled([60, 0].map((ms) => takeLongRead(callerIn('a'), read(ms))))
    t.ok((begunAt[1] ?? 0) >= 116, 'the read and its rest: each timer may end a millisecond early or two')
  }
})

t.test('a read that fails stops no other one', async (t) => {
  const failing = takeLongRead(callerIn('a'), () => Promise.reject(new Error('cut off')))
  const next = takeLongRead(callerIn('a'), async () => 'read')
  await t.rejects(failing, { message: 'cut off' })
  t.equal(await next, 'read')
})

t.test('nothing is read for a caller who is gone when its turn comes', async (t) => {
  let isGone = false
  const first = takeLongRead(callerIn('a'), () => delay(5))
  const second = takeLongRead(
    callerIn('a', () => isGone),
    async () => t.fail('It was read'),
  )
  isGone = true
  await first
  await t.rejects(second, { message: 'Service temporarily unavailable' })
})

t.test('the line of a workspace has an end, and a list that has begun is not in it', async (t) => {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const reads = Array.from({ length: 65 }, () => takeLongRead(callerIn('a'), () => released))
  await t.rejects(
    takeLongRead(callerIn('a'), async () => t.fail('It was read')),
    { message: 'It got no turn in time', isBehindOthers: false },
  )
  const reply: Record<string, unknown> = {
    request: { workspace: { id: 'a' } },
    type: () => reply,
    send: (content: NodeJS.ReadableStream) => content,
  }
  const parts = async function* () {
    yield* ['1', '2', '3']
  }
  const content = await sendList(reply as unknown as FastifyReply, 'rules', parts())
  t.equal(await text(content as unknown as NodeJS.ReadableStream), '{"rules":[1,2,3]}')
  release()
  await Promise.all(reads)
})

t.test('callers who want the same share a read that has not begun', async (t) => {
  const begun: string[] = []
  const read = (name: string) => async () => {
    const number = begun.push(name)
    await delay(5)
    return number
  }
  const ask = (workspaceId: string, name: string) =>
    shareLongRead(callerIn(workspaceId), name, read(`${workspaceId} ${name}`))
  const asked = [ask('a', 'rules')]
  await delay(1)
  asked.push(ask('a', 'rules'), ask('a', 'rules'), ask('a', 'page'), ask('b', 'rules'))
  t.strictSame(await Promise.all(asked), [1, 3, 3, 4, 2], 'none of them has what was read before it asked')
  t.strictSame(begun, ['a rules', 'b rules', 'a rules', 'a page'])
  t.equal(await ask('a', 'rules'), 5, 'nothing is kept')
})

t.test(
  'a shared read is left out only where all its callers are gone, and fails for all of them',
  async (t) => {
    const gone: string[] = []
    const ask = (name: string, read: () => Promise<unknown>) =>
      shareLongRead(
        callerIn('a', () => gone.includes(name)),
        'rules',
        read,
      )
    const first = ask('first', () => delay(5, 'first'))
    await delay(1)
    const shared = [ask('second', async () => 'second'), ask('third', async () => 'third')]
    gone.push('second')
    t.equal(await first, 'first')
    t.strictSame(await Promise.all(shared), ['second', 'second'])

    const before = ask('first', () => delay(5, 'first'))
    await delay(1)
    const unwanted = [
      ask('second', async () => t.fail('It was read')),
      ask('third', async () => t.fail('It was read')),
    ]
    gone.push('third')
    for (const one of unwanted) await t.rejects(one, { message: 'Service temporarily unavailable' })
    await before

    const slow = ask('first', () => delay(5, 'first'))
    await delay(1)
    const failing = ['fourth', 'fifth'].map((name) => ask(name, () => Promise.reject(new Error('cut off'))))
    for (const one of failing) await t.rejects(one, { message: 'cut off' })
    await slow
    t.equal(await ask('sixth', async () => 'sixth'), 'sixth')
  },
)
