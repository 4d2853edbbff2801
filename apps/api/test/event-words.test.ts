import { newId } from '@automation/database'
import t from 'tap'
import { findWords, readWords } from '../src/evaluation/find-words.js'
import { startApi } from './fixtures/api.js'
import { storeEvent } from './fixtures/history.js'

interface Page {
  events: { id: string }[]
  nextCursor: string | null
}

const api = await startApi(t)
const workspace = await api.makeWorkspace()

async function list(query: string): Promise<Page> {
  const { status, body } = await workspace.call<Page>('GET', `/api/events?${query}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

t.test('words are found in any text and number of the data, without regard to case', async (t) => {
  const data = JSON.stringify({
    name: 'Grace Hopper',
    company: { names: ['Société Générale', 'Acme "North"\n'] },
    amount: 1500.5,
    isNew: true,
    note: null,
    label: 'Bell\u0007 and \u001b[1mbold\b\f',
  })
  for (const text of [
    'grace hopper',
    'HOPPER grace',
    '  Grace\tACME ',
    'rac',
    'SOCIÉTÉ',
    '"north"',
    '1500.5',
    'bell\u0007',
    '\u0007 \u001b[1M',
    '\b',
    '',
  ])
    t.strictSame(findWords(data, readWords(text)), JSON.parse(data), text)
  for (const text of [
    'grace murray',
    'name',
    'company',
    'true',
    'null',
    'north"\\n',
    '{',
    'gracehopper',
    '\u0008bell',
    'u0007',
  ])
    t.equal(findWords(data, readWords(text)), undefined, text)
})

t.test('letters whose case depends on the language or on their place are found in either', (t) => {
  for (const [name, text] of [
    ['Weißstraße', 'WEISSSTRASSE'],
    ['WEISSSTRASSE', 'weißstraße'],
    ['ΟΔΥΣΣΕΥΣ', 'ΟΔΥΣ'],
    ['Οδυσσεύς', 'οδυσσεύσ'],
    ['ısparta', 'ISPARTA'],
    ['İstanbul', 'istanbul'],
    ['İstanbul', 'ISTANBUL'],
    ['istanbul', 'İSTANBUL'],
    ['İstanbul'.toLowerCase(), 'istanbul'],
    ['Diyarbakır', 'DİYARBAKIR'],
  ] as const)
    t.ok(findWords(JSON.stringify({ name }), readWords(text)), `${text} in ${name}`)
  t.end()
})

t.test('a letter is found that its sender wrote as an escape', async (t) => {
  const own = await api.makeWorkspace()
  const text = String.raw`{"type":"LEAD_CREATED","data":{"city":"\u0130stanbul"}}`
  const sent = { body: JSON.parse(text) }
  t.equal((await own.call('POST', '/api/events', sent)).status, 202)
  t.equal((await own.call<Page>('GET', '/api/events?q=istanbul')).body.events.length, 1)
})

t.test('a list has the events with all words, and those of its other filters alone', async (t) => {
  const ruleIds = [newId()]
  const ada = await storeEvent(workspace, { data: { name: 'Ada Lovelace' } })
  const grace = await storeEvent(workspace, { data: { lead: { name: 'Grace Hopper' } }, ruleIds })
  const other = await storeEvent(workspace, {
    data: { first: 'GRACE', last: ['Hopper'] },
    type: 'DEAL_WON',
    doneAt: null,
  })
  const stranger = await api.makeWorkspace()
  await storeEvent(stranger, { data: { name: 'Grace Hopper' } })
  const found = async (query: string) => (await list(query)).events.map(({ id }) => id)
  t.strictSame(await found('q=grace%20hopper'), [other.id, grace.id])
  t.strictSame(await found('q=HOPPER+g'), [other.id, grace.id])
  t.strictSame(await found('q=ada'), [ada.id])
  t.strictSame(await found('q=ada+hopper'), [])
  t.strictSame(await found('q=+'), [other.id, grace.id, ada.id], 'no word is no filter')
  t.strictSame(await found('q=grace&eventType=DEAL_WON'), [other.id])
  t.strictSame(await found('q=grace&status=accepted'), [other.id])
  t.strictSame(await found(`q=grace&ruleId=${ruleIds[0]}`), [grace.id])
  t.strictSame(await found('q=grace&to=2020-01-01'), [])
  const { events } = (await workspace.call<Page>('GET', '/api/events?q=ada&excerpt=true')).body
  t.match(events, [{ excerpt: { name: 'Ada Lovelace' } }])
})

t.test('pages of words are the whole, whatever another filter leaves out of each', async (t) => {
  const own = await api.makeWorkspace()
  const stored: string[] = []
  for (let index = 0; index < 12; index++) {
    const { id } = await storeEvent(own, {
      data: { name: index % 2 === 0 ? 'Grace' : 'Ada' },
      ...(index % 4 === 0 && { doneAt: null }),
    })
    stored.push(id)
  }
  for (const [filter, step] of [
    ['', 2],
    ['&status=accepted', 4],
  ] as const) {
    const seen: string[] = []
    let cursor = ''
    for (;;) {
      const { body } = await own.call<Page>('GET', `/api/events?q=grace&limit=2${filter}${cursor}`)
      seen.push(...body.events.map(({ id }) => id))
      if (body.nextCursor === null) break
      cursor = `&cursor=${body.nextCursor}`
    }
    t.strictSame(seen, stored.filter((_, index) => index % step === 0).reverse(), filter)
  }
})

t.test('a search by conditions takes words, too, and its conditions tell capital letters', async (t) => {
  const own = await api.makeWorkspace()
  const high = await storeEvent(own, { data: { name: 'Grace Hopper', score: 90 } })
  await storeEvent(own, { data: { name: 'Grace Hopper', score: 10 } })
  await storeEvent(own, { data: { name: 'Ada', score: 95 } })
  const hot = { field: 'score', operator: 'greater_than', value: 80 }
  const search = async (conditions: object[], q: string) => {
    const { body } = await own.call<Page>('POST', '/api/events/search', { body: { conditions, q } })
    return body.events.map(({ id }) => id)
  }
  t.strictSame(await search([hot], 'HOPPER'), [high.id])
  t.strictSame(await search([{ field: 'name', operator: 'contains', value: 'grace' }], 'grace'), [])
})

t.test('a text that cannot be looked for is refused', async (t) => {
  const message = (text: string) => workspace.call('GET', `/api/events?q=${text}`)
  t.equal((await message('x'.repeat(201))).status, 400)
  t.equal((await message('%00')).status, 400)
  const body = { conditions: [], q: 'x'.repeat(201) }
  t.match(await workspace.call('POST', '/api/events/search', { body }), {
    status: 422,
    body: { errors: [{ field: 'q' }] },
  })
})
