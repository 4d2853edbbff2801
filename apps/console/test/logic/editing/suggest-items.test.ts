import t from 'tap'
import { suggestItems, suggestWithItem } from '../../../pages/logic/editing/suggest-items.js'

const examples: Record<string, unknown> = {
  name: 'Ada',
  items: [{ sku: 'A', qty: 6 }],
  'items[0]': { sku: 'A', qty: 6 },
  'items[0].sku': 'A',
  'items[0].qty': 6,
  tags: ['new'],
  'tags[0]': 'new',
}
const frequent: Record<string, unknown[]> = { 'items[0].qty': [6, 1], tags: ['new', 'vip'] }
const event = {
  fields: Object.keys(examples).map((value) => ({ value, hint: `of ${value}` })),
  lists: [{ value: 'items' }, { value: 'tags' }],
  valuesOf: (field: string) => frequent[field] ?? [],
  exampleOf: (field: string) => examples[field],
  tellingOf: (field: string) => (field in examples ? [examples[field]] : []),
}
const valuesOf = (fields: readonly { value: string }[]) => fields.map(({ value }) => value)

t.test('within a condition on a list the fields are those of its items', async (t) => {
  const items = suggestItems(event, 'items')
  t.strictSame(valuesOf(items.fields), ['sku', 'qty'])
  t.equal(items.fields[0]?.hint, 'of items[0].sku')
  t.strictSame([items.exampleOf('qty'), items.valuesOf('qty'), items.tellingOf('qty')], [6, [6, 1], [6]])
  t.equal(items.exampleOf('name'), undefined)
  t.strictSame(items.lists, [], 'there are no lists within lists')
  t.equal(items.event, event)
})

t.test('an item without fields is itself', async (t) => {
  const tags = suggestItems(event, 'tags')
  t.strictSame(valuesOf(tags.fields), ['.'])
  t.strictSame(
    [tags.exampleOf('.'), tags.valuesOf('.'), tags.tellingOf('.')],
    ['new', ['new', 'vip'], ['new']],
  )
  t.strictSame(valuesOf(suggestItems(event, '').fields), ['.'], 'before a list is chosen')
})

t.test('for each item a placeholder names the item, and the event as before', async (t) => {
  t.strictSame(valuesOf(suggestWithItem(event, 'items').fields).slice(0, 3), ['item.sku', 'item.qty', 'name'])
  t.equal(suggestWithItem(event, 'tags').fields[0]?.value, 'item')
})
