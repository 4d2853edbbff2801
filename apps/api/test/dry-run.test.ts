import t from 'tap'
import { isOverrun } from '../src/evaluation/bounds.js'
import { dryRun } from '../src/evaluation/dry-run.js'

interface Written {
  results: object[]
  branches?: { choice: string; results: object[] }[]
  branchesLeftOut?: number
}

const options = Array.from({ length: 10 }, (_, index) => `option-${index}`)
const ask = { type: 'WAIT', config: { decision: { options, within: '24h' } } }
const call = {
  type: 'CREATE_TASK',
  config: { title: '{{text}}' },
  when: { field: 'text', operator: 'contains', value: 'no such text' },
}

/** @returns undefined where not even the result fits */
function runWithin(units: number): Written | undefined {
  const written = dryRun({
    definition: { conditions: [], actions: [ask, call] } as never,
    data: { text: 'x'.repeat(50_000) },
    now: 0,
    limits: { rule: Number.POSITIVE_INFINITY, event: Number.POSITIVE_INFINITY } as never,
    explains: false,
    bounds: { units, ms: Number.POSITIVE_INFINITY },
  })
  return isOverrun(written) ? undefined : JSON.parse(Buffer.from(written).toString())
}

t.test('the branches that the work of a question does not reach are counted', async (t) => {
  // The least work with a result, and then a little more each time.
  let most = 1
  while (runWithin(most) === undefined) most *= 2
  let least = most / 2
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2)
    if (runWithin(middle) === undefined) least = middle
    else most = middle
  }
  const none = runWithin(most)
  t.match(none?.results, [{ action: 'WAIT' }, { action: 'CREATE_TASK' }], 'the result is whole')
  const counts: number[] = []
  for (let units = most; counts.at(-1) !== 0 && counts.length < 10_000; units += Math.ceil(most / 4)) {
    const { branches = [], branchesLeftOut = 0 } = runWithin(units) ?? {}
    t.equal(branches.length + branchesLeftOut, options.length + 1, `${units} units`)
    t.strictSame(
      branches.map(({ choice }) => choice),
      [...options, 'expired'].slice(0, branches.length),
      'the first of them, whole',
    )
    counts.push(branchesLeftOut)
  }
  t.equal(counts[0], options.length + 1, 'also if there is work for none')
  t.ok(
    counts.some((count) => count > 0 && count <= options.length),
    'or for some',
  )
  t.equal(counts.at(-1), 0)
})
