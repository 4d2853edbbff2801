import { checkRules } from '@automation/check'
import t from 'tap'
import { checkDraft } from '../../pages/logic/check-draft.js'
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

t.test('a draft has the findings that the check of the whole set has about it', async (t) => {
  const found = await checkDraft(base, { ...circumstances, others: [other] as never })
  const { findings } = checkRules([base, other] as never, { now })
  t.ok(findings.length > 0)
  t.strictSame(write(found), write(findings))
})

t.test('a rule of another type that cannot answer the draft is not compared', async (t) => {
  const far = { ...other, trigger: 'DEAL_WON' }
  t.strictSame(await checkDraft(base, { ...circumstances, others: [far] as never }), [])
})

t.test('the fields of its events are not those of the event that a WAIT waits for', async (t) => {
  const observed = { events: 100, hasMorePaths: false, fields: [] }
  const paid = { eventType: 'DEAL_WON', match: { invoice: '{{invoice}}' }, then: 'stop' }
  const wait = { type: 'WAIT', config: { duration: '1d', for: paid } }
  const draft = { ...base, conditions: [], actions: [wait] } as never
  const found = await checkDraft(draft, { ...circumstances, observed })
  t.strictSame(
    found?.filter(({ code }) => code === 'unknown_field'),
    [],
  )
})

t.test('conditions are checked while an action is unfinished', async (t) => {
  const conditions = [...base.conditions, { field: 'score', operator: 'less_than', value: 50 }] as never
  const unfinished = [{ type: 'CREATE_TASK', config: { title: '' } }] as never
  const found = await checkDraft({ ...base, conditions, actions: unfinished }, circumstances)
  t.match(found, [{ code: 'never_matches' }])
})

t.test('unfinished conditions have no findings', async (t) => {
  const conditions = [{ field: '', operator: 'greater_than', value: null }] as never
  t.strictSame(await checkDraft({ ...base, conditions }, circumstances), [])
  const unnamed = [...base.conditions, { field: '', operator: 'equals', value: '' }] as never
  const beside = { ...circumstances, others: [other] as never }
  t.strictSame(await checkDraft({ ...base, conditions: unnamed }, beside), [])
})

t.test('a check that nobody waits for any more ends, and says nothing', async (t) => {
  const others = Array.from({ length: 200 }, (_, index) => ({
    ...other,
    conditions: Array.from({ length: 20 }, (_, n) => ({ field: `f${n}`, operator: 'equals', value: index })),
  }))
  t.equal(
    await checkDraft(base, { ...circumstances, others: others as never, turn: async () => false }),
    undefined,
  )
})
