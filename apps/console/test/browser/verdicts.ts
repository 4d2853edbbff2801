import type { Condition } from '@automation/client'
import { compileRule, explainRule } from '@automation/engine'
import fc from 'fast-check'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, go } from './context.js'

const [rules, events] = process.env.TEST_LONG ? [40, 50] : [10, 5]

const field = fc.constantFrom('score', 'name', 'tags', 'lead.country', 'lead.age', 'at', 'isNew', 'nothing')
const word = fc.constantFrom('Ada', 'ada', 'Bo', 'DE', 'AT', '', '80', 'é', '🙂')
const number = fc.oneof(fc.integer({ min: -2, max: 102 }), fc.constantFrom(0.1, 80, 1e21))
const scalar = fc.oneof(word, number, fc.boolean(), fc.constant(null))
const text = word.filter((one) => one !== '')
const list = fc.array(scalar, { minLength: 1, maxLength: 3 })
const operands: Record<string, fc.Arbitrary<unknown> | undefined> = {
  equals: scalar,
  not_equals: scalar,
  greater_than: number,
  greater_than_or_equal: number,
  less_than: number,
  less_than_or_equal: number,
  between: fc.tuple(number, number).map(([one, other]) => [Math.min(one, other), Math.max(one, other)]),
  in: list,
  not_in: list,
  contains: scalar,
  not_contains: scalar,
  contains_any: list,
  contains_all: list,
  starts_with: text,
  ends_with: text,
  matches: fc.constantFrom('^A', 'o$', '[0-9]+', '(?i)ada'),
  exists: undefined,
  not_exists: undefined,
  is_empty: undefined,
  is_not_empty: undefined,
  is_true: undefined,
  before: fc.constantFrom('2026-01-01', '2030-06-01T12:00:00+02:00'),
  // The page evaluates a moment later than the API: spans that nothing leaves meanwhile.
  within_last: fc.constantFrom('200d', '365d'),
}
const clause = fc.constantFrom(...Object.keys(operands)).chain((operator) =>
  fc.record({
    field,
    operator: fc.constant(operator),
    ...(operands[operator] && { value: operands[operator] }),
  }),
)
const condition = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    { weight: 4, arbitrary: clause },
    { weight: 1, arbitrary: fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })) },
    { weight: 2, arbitrary: fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })) },
    { weight: 1, arbitrary: tie('node').map((not) => ({ not })) },
  ),
})).node as fc.Arbitrary<Condition>
const data = fc.record(
  {
    score: fc.oneof(number, word),
    name: scalar,
    tags: fc.oneof(fc.array(scalar, { maxLength: 3 }), word),
    lead: fc.record({ country: scalar, age: fc.oneof(number, word) }, { requiredKeys: [] }),
    at: fc.constantFrom('2025-05-05', '2029-01-01T00:00:00Z', 'soon', 1_700_000_000),
    isNew: fc.oneof(fc.boolean(), word),
  },
  { requiredKeys: [] },
)

/** The preview is the engine: the page, the API and the engine say the same of each pair of rule and event. */
export function testVerdicts(t: Test, { browser, makeWorkspace }: Context): void {
  t.test(
    `of ${rules * events} random pairs the page, the API and the engine have the same verdicts`,
    async (t) => {
      const seed = Number(process.env.TEST_SEED ?? 1)
      t.comment(`seed ${seed}`)
      const { client, visit } = await makeWorkspace()
      // Of those that are drawn, all may agree: one matches each event, and one none.
      const conditions: Condition[][] = [
        [{ field: 'nothing', operator: 'not_exists' }],
        [{ field: 'nothing', operator: 'exists' }],
        ...fc.sample(fc.array(condition, { minLength: 1, maxLength: 2 }), { numRuns: rules - 2, seed }),
      ]
      await client.triggerBatch(
        'LEAD_CREATED',
        fc.sample(data, { numRuns: events, seed: seed + 1 }).map((one) => ({ data: one })),
      )
      const samples = (await client.events.samples('LEAD_CREATED', { limit: 100 })).events
      t.equal(samples.length, events)
      const { page, complaints, at } = await visit(browser, 'editor')
      await go(page, at('rules/new?tab=json'))
      const [differing, matched] = [[] as unknown[], { count: 0 }]
      for (const [index, tested] of conditions.entries()) {
        const compiled = compileRule({ conditions: tested, actions: [] } as never)
        const engine = samples.map(
          (sample) => explainRule(compiled, sample.data, Date.parse(sample.acceptedAt)).conditionsPassed,
        )
        const shown = await readPage(page, { conditions: tested, name: `Rule ${index}` })
        // The API evaluates all of them at once: each event that fulfils the conditions.
        const { events: found } = await client.events.search({
          conditions: tested,
          type: 'LEAD_CREATED',
          limit: 100,
        })
        const ids = new Set(found.map(({ id }) => id))
        const api = samples.map(({ id }) => ids.has(id))
        matched.count += engine.filter(Boolean).length
        for (const [at, sample] of samples.entries())
          if (shown[at] !== engine[at] || api[at] !== engine[at])
            differing.push({
              conditions: tested,
              data: sample.data,
              page: shown[at],
              api: api[at],
              engine: engine[at],
            })
      }
      t.strictSame(differing, [])
      const few = Math.floor(events / 25)
      t.ok(
        matched.count > rules * few && matched.count < rules * (events - few),
        `${matched.count} of ${rules * events} pairs match`,
      )
      t.strictSame(complaints, [])
    },
  )
}

/** Types a rule, and reads which of the samples the page says match. */
async function readPage(page: Page, rule: { name: string; conditions: Condition[] }): Promise<boolean[]> {
  const tab = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await tab('JSON')
  const actions = [{ type: 'CREATE_TASK', config: { title: 'x' } }]
  await page
    .getByLabel('Definition')
    .fill(JSON.stringify({ ...rule, description: '', trigger: 'LEAD_CREATED', actions }))
  await tab('Editor')
  await page.getByRole('heading', { name: rule.name, level: 1 }).waitFor()
  await page.locator('.samples').waitFor()
  const lines = await page.locator('.samples li').allInnerTexts()
  return lines.map((line) => /^\W*matches/.test(line))
}
