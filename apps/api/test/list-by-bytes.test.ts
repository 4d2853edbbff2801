import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { makeInParts } from '../src/routes/rules/list-by-bytes.js'
import { ruleBody, rules, startApi } from './fixtures/api.js'

const workMs = 40

/** Parts of one row each. */
const rowsOf = (count: number) => Array.from({ length: count }, (_, index) => ({ bytes: 200_000, index }))

async function collect(parts: AsyncGenerator<string>): Promise<string[]> {
  const collected: string[] = []
  for await (const part of parts) collected.push(part)
  return collected
}

t.test(
  'parts of long lists are made one at a time, in turns, and each leaves as long a time to others',
  async (t) => {
    const made: { owner: string; begunAt: number; endedAt: number }[] = []
    async function read(owner: string, count: number): Promise<string> {
      const parts = makeInParts(owner, rowsOf(count), async ([row]) => {
        const begunAt = performance.now()
        await delay(workMs)
        made.push({ owner, begunAt, endedAt: performance.now() })
        return `${row?.index}`
      })
      return (await collect(parts)).join()
    }
    const lists = await Promise.all([read('a', 5), read('a', 5), read('b', 3)])
    t.strictSame(lists, ['0,1,2,3,4', '0,1,2,3,4', '0,1,2'])
    for (const [index, { begunAt }] of made.entries()) {
      const before = made[index - 1]
      if (before === undefined) continue
      const tookMs = before.endedAt - before.begunAt
      // Timers may be a millisecond early.
      t.ok(begunAt - before.endedAt >= tookMs - 2, 'a part rests for as long as it took')
    }
    const lastOfB = made.map(({ owner }) => owner).lastIndexOf('b')
    t.ok(lastOfB < 7, 'three parts of a workspace do not wait for ten of another')
  },
)

t.test('a list that is one part waits for nobody', async (t) => {
  const long = makeInParts('a', rowsOf(2), async () => {
    await delay(workMs)
    return ''
  })
  const first = long.next()
  const short = makeInParts('b', rowsOf(1), async () => 'short')
  t.equal(await Promise.race([first, short.next()]).then(({ value }) => value), 'short')
  await first
  await long.return(undefined)
})

t.test('lists and pages of large rules are whole', async (t) => {
  const api = await startApi(t)
  const { call } = await api.makeWorkspace()
  const conditions = [{ field: 'x', operator: 'equals', value: 'x'.repeat(150_000) }]
  const created: string[] = []
  for (let n = 0; n < 5; n++) {
    const body = ruleBody({ name: `Large ${n}`, conditions })
    created.unshift((await call<{ id: string }>('POST', rules, { body })).body.id)
  }
  interface List {
    rules: { id: string; conditions: unknown }[]
    nextCursor?: string | null
  }
  const all = (await call<List>('GET', rules)).body
  t.strictSame(Object.keys(all), ['rules'])
  t.strictSame(
    all.rules.map(({ id }) => id),
    created,
  )
  t.strictSame(all.rules[0]?.conditions, conditions)
  const first = (await call<List>('GET', `${rules}?limit=3`)).body
  const second = (await call<List>('GET', `${rules}?limit=3&cursor=${first.nextCursor}`)).body
  t.strictSame(
    [first, second].map((page) => page.rules.map(({ id }) => id)),
    [created.slice(0, 3), created.slice(3)],
  )
  t.equal(second.nextCursor, null)
  t.strictSame((await call('GET', `${rules}?q=nothing`)).body, {
    rules: [],
    nextCursor: null,
  })
})
