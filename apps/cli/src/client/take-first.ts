import { Type } from 'typebox'
import { readAs } from '../option-readers.js'

const Limit = Type.Integer({ minimum: 1, maximum: 10_000 })

/** Of every list. */
export const limitOption = [
  '--limit <number>',
  'maximum number of entries, 1 to 10000',
  readAs(Limit),
  50,
] as const

/** The first items of a list, over as many pages as it takes. */
export async function takeFirst<Item>(limit: number, list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) {
    items.push(item)
    if (items.length === limit) break
  }
  return items
}
