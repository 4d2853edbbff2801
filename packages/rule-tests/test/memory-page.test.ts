import { readFileSync } from 'node:fs'
import type { CheckedRule, PerKey, Suppression } from '@automation/engine'
import { prepareRules, simulateEvents } from '@automation/rule-tests'
import t from 'tap'

const page = readFileSync(new URL('../../../../docs/guides/memory.md', import.meta.url), 'utf8')

t.test('the tables of the page about memory are what the rules do', async (t) => {
  const tables = [...page.matchAll(/^\| Event of one lead \| `(.+)` \|\n\|---\|---\|\n((?:\|.*\n)+)/gm)]
  t.equal(tables.length, 2)
  for (const [, limits = '', text = ''] of tables) {
    const rows = [...text.matchAll(/^\| (\d\d:\d\d) \| (.+) \|$/gm)].map(([, time = '', what = '']) => ({
      at: Date.parse(`2026-03-10T${time}Z`),
      what,
    }))
    t.ok(rows.length >= 4)
    const actions = [{ type: 'CREATE_TASK', config: { title: 'Call' } }] as const
    const perKey: PerKey = { key: '{{lead.id}}', ...JSON.parse(limits) }
    const rule = { name: 'Call', trigger: 'LEAD_UPDATED', conditions: [], actions: [...actions], perKey }
    const events = rows.map(({ at }) => ({ type: rule.trigger, at, data: { lead: { id: 1 } } }))
    const { executions, suppressed } = simulateEvents(prepareRules([rule as CheckedRule]), events)
    for (const [index, { what }] of rows.entries()) {
      const runs = executions.some(({ event }) => event === events[index])
      const refused = suppressed.find(({ event }) => event === events[index])
      t.equal(runs ? 'runs' : refused && `suppressed, ${write(refused.suppression)}`, what, limits)
    }
  }
})

function write(suppression: Suppression): string {
  if (suppression.reason === 'at_least') return `${suppression.count} of ${suppression.events}`
  return suppression.reason === 'at_most' ? `until ${suppression.until.slice(11, 16)}` : suppression.reason
}
