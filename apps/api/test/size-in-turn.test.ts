import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { sizeInTurn } from '../src/routes/rules/send-list.js'

t.test('the lists of a workspace are sized one at a time, and those of others beside them', async (t) => {
  let atOnce = 0
  let most = 0
  const size = async () => {
    most = Math.max(most, ++atOnce)
    await delay(5)
    atOnce--
  }
  await Promise.all([sizeInTurn('a', size), sizeInTurn('a', size), sizeInTurn('a', size)])
  t.equal(most, 1)
  await Promise.all([sizeInTurn('a', size), sizeInTurn('b', size)])
  t.equal(most, 2)
})

t.test('after sizes that took long the next list waits for as long again', async (t) => {
  const startedAt = performance.now()
  const begunAt: number[] = []
  const size = (ms: number) => async () => {
    begunAt.push(performance.now() - startedAt)
    await delay(ms)
  }
  await Promise.all([sizeInTurn('a', size(60)), sizeInTurn('a', size(0))])
  t.ok((begunAt[1] ?? 0) >= 118, 'the work and its rest, by a timer that may end early')
})

t.test('a list whose sizes could not be read stops no other one', async (t) => {
  const failing = sizeInTurn('a', () => Promise.reject(new Error('cut off')))
  const next = sizeInTurn('a', async () => 'sized')
  await t.rejects(failing, { message: 'cut off' })
  t.equal(await next, 'sized')
})
