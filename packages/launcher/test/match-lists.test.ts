import t, { type Test } from 'tap'
import { matchLists } from '../src/match-lists.js'

/** Records the verdicts of the two assertions, without failing. */
function evaluate(actual: unknown, pattern: unknown): boolean[] {
  const verdicts: boolean[] = []
  const record = (passes: boolean) => {
    verdicts.push(passes)
    return passes
  }
  const recorder = {
    match: () => record(true),
    strictSame: (one: unknown, other: unknown) => record(JSON.stringify(one) === JSON.stringify(other)),
  }
  matchLists(recorder as unknown as Test, actual, pattern)
  return verdicts
}

t.test('a list with exactly the items of its pattern passes', async (t) => {
  matchLists(t, [{ id: 1, name: 'a' }, { id: 2 }], [{ id: Number }, { id: 2 }])
  matchLists(t, { rules: [{ tags: ['a', 'b'] }], more: [1] }, { rules: [{ tags: [/a/, 'b'] }] })
  matchLists(t, { id: 1, tags: [] }, { tags: [] })
})

t.test('a longer list, a shorter one and a value that is no list fail, at any depth', async (t) => {
  for (const actual of [[1, 2], [], {}, undefined, 'a'])
    for (const nest of [(value: unknown) => value, (value: unknown) => ({ rules: [{ tags: value }] })])
      t.strictSame(evaluate(nest(actual), nest([1])), [true, false], JSON.stringify(nest(actual)))
})
