import { readdir, readFile } from 'node:fs/promises'
import { checkRules, type Finding } from '@automation/check'
import type { CheckedRule } from '@automation/engine'
import t from 'tap'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const pairCodes = ['duplicate', 'contained', 'overlap']
const recipes = new URL('../../../../docs/guides/recipes/', import.meta.url)

/** The rules that the commands of the recipes post. */
async function readRecipes(): Promise<CheckedRule[]> {
  const pages = (await readdir(recipes)).sort().map((name) => readFile(new URL(name, recipes), 'utf8'))
  const posted = (await Promise.all(pages)).join('\n').split("\napi $rules -d '").slice(1)
  return posted.map((rest) => {
    const json = rest.slice(0, rest.search(/}'$/m) + 1).replace(/'"[^']*"'/g, 'https://example.com')
    return { conditions: [], ...JSON.parse(json) }
  })
}

function listPairs(rules: readonly CheckedRule[]) {
  const { findings, notKnown } = checkRules(rules, { now })
  const ofPairs = <Said extends { code: string }>(all: readonly Said[]) =>
    all.filter(({ code }) => pairCodes.includes(code))
  return { findings: ofPairs<Finding>(findings), notKnown: ofPairs(notKnown) }
}

t.test('the rules of all recipes in one workspace have no finding about two of them', async (t) => {
  const rules = await readRecipes()
  t.ok(rules.length > 20, `${rules.length} rules`)
  t.strictSame(listPairs(rules), { findings: [], notKnown: [] })
})

const mail = { type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello', template: 'hello' } } as const
const above = (value: number, name = `Above ${value}`): CheckedRule => ({
  name,
  trigger: 'LEAD_CREATED',
  conditions: [{ field: 'score', operator: 'greater_than', value }],
  actions: [mail],
})

t.test('a rule that another one contains is compared with no third one', async (t) => {
  const ladder = Array.from({ length: 10 }, (_, n) => above(10 * n))
  const german: CheckedRule = {
    ...above(0, 'German'),
    conditions: [{ field: 'country', operator: 'equals', value: 'DE' }],
  }
  for (const rules of [ladder, ladder.toReversed()]) {
    const { findings, notKnown } = listPairs([...rules, german])
    const named = findings.map(({ code, rule, others }) => [code, rule.name, others[0]?.name])
    t.equal(named.filter(([code]) => code === 'contained').length, 9, 'each below the widest, once')
    t.strictSame(
      named.filter(([code]) => code !== 'contained'),
      [['overlap', 'German', 'Above 0']],
      'what is shared with the widest is still news',
    )
    t.strictSame(notKnown, [])
  }
})

t.test('of many copies of a rule each is said once', async (t) => {
  const copies = Array.from({ length: 60 }, (_, n) => above(80, `Copy ${n}`))
  const { findings } = listPairs(copies)
  t.strictSame(
    findings.map(({ code, rule }) => [code, rule.index]),
    copies.slice(1).map((_, n) => ['duplicate', n + 1]),
  )
})

t.test('no pair of rules that overlap is left out without a word', async (t) => {
  const rules = Array.from({ length: 30 }, (_, n) => ({
    ...above(0, `Rule ${n}`),
    conditions: [{ field: `field${n}`, operator: 'exists' as const }],
  }))
  t.equal(listPairs(rules).findings.length, (30 * 29) / 2)
})
