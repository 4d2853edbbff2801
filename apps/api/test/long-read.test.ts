import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import t from 'tap'
import { takeLongRead } from '../src/lists/long-read.js'
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
    { message: 'The workspace has too many reads at a time' },
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
