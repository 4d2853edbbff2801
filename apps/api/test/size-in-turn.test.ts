import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import t from 'tap'
import { sendList, sizeInTurn } from '../src/routes/rules/send-list.js'

const callerIn = (workspaceId: string, isGone = () => false) => ({ workspaceId, dueAt: 60_000, isGone })

t.test('the lists of a workspace are sized one at a time, and those of others beside them', async (t) => {
  let atOnce = 0
  let most = 0
  const size = async () => {
    most = Math.max(most, ++atOnce)
    await delay(5)
    atOnce--
  }
  await Promise.all(['a', 'a', 'a'].map((id) => sizeInTurn(callerIn(id), size)))
  t.equal(most, 1)
  await Promise.all(['a', 'b'].map((id) => sizeInTurn(callerIn(id), size)))
  t.equal(most, 2)
})

t.test('after a long step the next list waits for as long again, also where the step failed', async (t) => {
  for (const fail of [false, true]) {
    const startedAt = performance.now()
    const begunAt: number[] = []
    const size = (ms: number) => async () => {
      begunAt.push(performance.now() - startedAt)
      await delay(ms)
      if (ms > 0 && fail) throw new Error('cut off')
    }
    await Promise.allSettled([60, 0].map((ms) => sizeInTurn(callerIn('a'), size(ms))))
    t.ok((begunAt[1] ?? 0) >= 116, 'the step and its rest: each timer may end a millisecond early or two')
  }
})

t.test('a list whose sizes cannot be read stops no other one', async (t) => {
  const failing = sizeInTurn(callerIn('a'), () => Promise.reject(new Error('cut off')))
  const next = sizeInTurn(callerIn('a'), async () => 'sized')
  await t.rejects(failing, { message: 'cut off' })
  t.equal(await next, 'sized')
})

t.test('a list is not sized for a caller who is gone when its turn comes', async (t) => {
  let isGone = false
  const first = sizeInTurn(callerIn('a'), () => delay(5))
  const second = sizeInTurn(
    callerIn('a', () => isGone),
    async () => t.fail('It was sized'),
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
  const sized = Array.from({ length: 65 }, () => sizeInTurn(callerIn('a'), () => released))
  await t.rejects(
    sizeInTurn(callerIn('a'), async () => t.fail('It was sized')),
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
  await Promise.all(sized)
})
