// npm run count: lines of source, tests and docs, by room and in all. Styles and generated code have columns of their own.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const kinds = ['source', 'tests', 'docs', 'styles', 'generated']
const root = fileURLToPath(new URL('..', import.meta.url))
const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
/** The lines of each kind by room: `apps/api`, `packages/engine`, or another directory of the first level. */
const rooms = new Map()

for (const file of execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0')) {
  // A file that was deleted, and not committed yet, is still listed.
  if (!/\.(ts|tsx|mts|js|mjs|py|go|css|md)$/.test(file) || !existsSync(root + file)) continue
  const text = readFileSync(root + file, 'utf8')
  const counts = rooms.get(roomOf(file)) ?? Object.fromEntries(kinds.map((kind) => [kind, 0]))
  counts[kindOf(file, text)] += text.split('\n').length - 1
  rooms.set(roomOf(file), counts)
}

const names = [...rooms.keys()].sort()
print('', kinds)
for (const name of names) print(name, sum([name]))
print('apps and packages', sum(names.filter((name) => name.includes('/'))))
print('all', sum(names))

function kindOf(file, text) {
  if (file.includes('/generated/') || /^.*\bdo not edit\b/i.test(text)) return 'generated'
  if (file.endsWith('.md')) return 'docs'
  if (file.endsWith('.css')) return 'styles'
  return /(^|\/)test\//.test(file) ? 'tests' : 'source'
}

function roomOf(file) {
  const [first, second, third] = file.split('/')
  if (second === undefined) return '.'
  return third === undefined || !/^(apps|packages)$/.test(first) ? first : `${first}/${second}`
}

function sum(some) {
  return kinds.map((kind) => some.reduce((lines, name) => lines + rooms.get(name)[kind], 0))
}

function print(name, cells) {
  const columns = cells.map((cell) => cell.toLocaleString('en-US').padStart(11))
  console.log(`${name.padEnd(20)}${columns.join('')}`)
}
