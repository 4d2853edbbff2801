import t from 'tap'
import { checkDecisions, type DecisionTables, type Said } from './check-decisions.js'

const execution = (choice: string) => ({
  id: 'e',
  ruleId: 'r',
  status: 'succeeded',
  decision: choice === 'expired' ? null : { choice },
  results: [{ action: 'WAIT', decision: { choice } }],
})
const tables = (choice: string, more: Partial<DecisionTables> = {}): DecisionTables => ({
  executions: [execution(choice)],
  tasks: [{ executionId: 'e', title: choice }],
  ...more,
})
const said = (choice: string, status: number): Said => ({ executionId: 'e', choice, status })
const check = (found: DecisionTables, ...all: Said[]) => checkDecisions(found, 'r', all)

t.test('what was accepted is the outcome, or nobody was accepted', async (t) => {
  t.strictSame(check(tables('approve'), said('approve', 200), said('reject', 409)), [])
  t.strictSame(check(tables('approve'), said('approve', 0)), [], 'its response was lost')
  t.strictSame(check(tables('expired'), said('approve', 409)), [])
})

t.test('each violation is found', async (t) => {
  t.match(check(tables('expired'), said('approve', 200)), [/was accepted as approve, and is expired/])
  t.match(check(tables('approve'), said('approve', 200), said('reject', 200)), [
    /accepted 2 times/,
    /and is approve/,
  ])
  t.match(check(tables('approve'), said('approve', 409)), [/nobody decided/])
  const undecided = [{ ...execution('approve'), decision: null }]
  t.match(check(tables('approve', { executions: undecided }), said('approve', 200)), [
    /is approve, and its decision undefined/,
  ])
  t.match(check(tables('approve', { tasks: [] }), said('approve', 200)), [/with the tasks $/])
  const open = [{ ...execution('approve'), status: 'waiting', results: [] }]
  t.match(check(tables('approve', { executions: open })), [/is waiting, with undefined/])
})
