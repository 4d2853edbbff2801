import t from 'tap'
import { checkWaits, type WaitTables } from './check-waits.js'

const until = '2026-03-10T12:00:03.000Z'
const at = (ms: number) => new Date(Date.parse(until) + ms)
const lead = { id: '1', type: 'LEAD_CREATED', acceptedAt: at(-3_000), data: { race: 4, until } }
const deal = (id: string, ms: number) => ({
  id,
  type: 'DEAL_WON',
  acceptedAt: at(ms),
  data: { race: 4, n: 1 },
})
const byEvent = (eventId: string) => ({
  action: 'WAIT',
  status: 'success',
  ended: 'event',
  endedBy: { eventId },
})
const byTime = { action: 'WAIT', status: 'success', ended: 'time' }

function tablesOf(deals: WaitTables['events'], once: object[], twice: object[], title: string): WaitTables {
  const executions = [
    { id: 'a', eventId: '1', status: 'succeeded', results: once },
    { id: 'b', eventId: '1', status: 'succeeded', results: twice },
  ]
  const tasks = [
    { executionId: 'a', title },
    { executionId: 'b', title: '4 twice' },
  ]
  return { events: [lead, ...deals], executions, tasks } as WaitTables
}

t.test('what happened as it must is no violation', async (t) => {
  t.strictSame(checkWaits(tablesOf([deal('2', 0)], [byEvent('2')], [byEvent('2'), byTime], '4 event 1')), [])
  t.strictSame(checkWaits(tablesOf([deal('2', 1)], [byTime], [byTime, byTime], '4 time ')), [])
  t.strictSame(checkWaits(tablesOf([deal('0', -3_000)], [byTime], [byTime, byTime], '4 time ')), [])
})

t.test('an event that was missed, came too late, or ended two WAITs is one', async (t) => {
  const found = (...tables: Parameters<typeof tablesOf>) => checkWaits(tablesOf(...tables)).join('; ')
  t.match(found([deal('2', 0)], [byTime], [byEvent('2'), byTime], '4 time '), /execution a missed 2/)
  t.match(found([deal('2', 1)], [byEvent('2')], [byTime, byTime], '4 event 1'), /none of its events in time/)
  t.match(
    found([deal('2', 0)], [byEvent('2')], [byEvent('2'), byEvent('2')], '4 event 1'),
    /execution b was ended twice by 2/,
  )
  t.match(found([], [byTime], [byTime, byTime], '4 event 1'), /told 4 event 1/)
  t.match(found([], [byTime], [byTime, { action: 'WAIT', status: 'scheduled' }], '4 time '), /did not end/)
})
