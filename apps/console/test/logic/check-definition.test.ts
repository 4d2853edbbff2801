import { checkRules } from '@automation/check'
import t from 'tap'
import { checkDefinition } from '../../pages/logic/check-definition.js'
import type { Definition } from '../../pages/logic/rule-definition.js'

const now = Date.parse('2026-11-23T00:00:00Z')
const base: Definition = {
  name: 'Draft',
  description: '',
  trigger: 'LEAD_CREATED',
  conditions: [{ field: 'score', operator: 'greater_than', value: 90 }],
  actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
}
const other = {
  ...base,
  name: 'Other',
  conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
}
const circumstances = { now, observed: undefined, others: [], turn: async () => true }
const write = (findings: readonly { code: string; message: string; path: string }[] | undefined) =>
  findings?.map(({ code, message, path }) => `${code} ${path} ${message}`).sort()

t.test('what is typed has the findings that the check of the whole set has about it', async (t) => {
  const found = await checkDefinition(base, { ...circumstances, others: [other] as never })
  const { findings } = checkRules([base, other] as never, { now })
  t.ok(findings.length > 0)
  t.strictSame(write(found), write(findings))
})

t.test('a rule of another type that cannot answer it is not compared', async (t) => {
  const far = { ...other, trigger: 'DEAL_WON' }
  t.strictSame(await checkDefinition(base, { ...circumstances, others: [far] as never }), [])
})

t.test('the fields of its events are not those of the event that a WAIT waits for', async (t) => {
  const observed = { events: 100, hasMorePaths: false, fields: [] }
  const paid = { eventType: 'DEAL_WON', match: { invoice: '{{invoice}}' }, then: 'stop' }
  const wait = { type: 'WAIT', config: { duration: '1d', for: paid } }
  const definition = { ...base, conditions: [], actions: [wait] } as never
  const found = await checkDefinition(definition, { ...circumstances, observed })
  t.strictSame(
    found?.filter(({ code }) => code === 'unknown_field'),
    [],
  )
})

t.test('limits and a schedule are checked as the service checks them', async (t) => {
  const observed = { events: 100, hasMorePaths: false, fields: [] }
  const perKey = { key: '{{customer}}', atMost: { runs: 1, per: '1h' } }
  const limited = { ...base, perKey } as Definition
  const found = await checkDefinition(limited, { ...circumstances, observed })
  t.ok(found?.some(({ path }) => path === 'perKey.key'))
  const schedule = { cron: '0 9 * * *', timezone: 'Mars/Olympus' }
  const daily = { ...base, conditions: [], trigger: 'SCHEDULE', schedule } as Definition
  t.match(write(await checkDefinition(daily, circumstances)), [/^unknown_zone schedule.timezone/])
})

t.test('conditions are checked while an action is unfinished', async (t) => {
  const conditions = [...base.conditions, { field: 'score', operator: 'less_than', value: 50 }] as never
  const unfinished = [{ type: 'CREATE_TASK', config: { title: '' } }] as never
  const found = await checkDefinition({ ...base, conditions, actions: unfinished }, circumstances)
  t.match(found, [{ code: 'never_matches' }])
})

t.test('unfinished conditions have no findings', async (t) => {
  const conditions = [{ field: '', operator: 'greater_than', value: null }] as never
  t.strictSame(await checkDefinition({ ...base, conditions }, circumstances), [])
  const unnamed = [...base.conditions, { field: '', operator: 'equals', value: '' }] as never
  const beside = { ...circumstances, others: [other] as never }
  t.strictSame(await checkDefinition({ ...base, conditions: unnamed }, beside), [])
})

t.test('a check that nobody waits for any more ends, and says nothing', async (t) => {
  const others = Array.from({ length: 200 }, (_, index) => ({
    ...other,
    conditions: Array.from({ length: 20 }, (_, n) => ({ field: `f${n}`, operator: 'equals', value: index })),
  }))
  t.equal(
    await checkDefinition(base, { ...circumstances, others: others as never, turn: async () => false }),
    undefined,
  )
})
