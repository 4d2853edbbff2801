import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const pages = fileURLToPath(new URL('../../pages/', import.meta.url))

t.test('a key of what screens read has one shape: that of the type beside it', async (t) => {
  const shapes = new Map<string, Set<string>>()
  for (const file of readdirSync(pages, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(file)) continue
    const source = readFileSync(pages + file, 'utf8')
    for (const [, shape = `as ${file} reads it`, key = ''] of source.matchAll(
      /useQuery(?:<((?:[^<>]|<[^<>]*>)+)>)?\(\{\s*key: ([^\n]*),\n/g,
    )) {
      const literal = /\[.*\]|rowsOf\(.*?\)/.exec(key)?.[0]
      if (literal !== undefined) shapes.set(literal, (shapes.get(literal) ?? new Set()).add(shape))
    }
  }
  t.ok(shapes.size > 20, `${shapes.size} keys`)
  for (const [key, found] of shapes) t.equal(found.size, 1, `${key}: ${[...found].join(' | ')}`)
})
