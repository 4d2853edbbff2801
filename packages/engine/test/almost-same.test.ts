import t from 'tap'
import { findAlmostSame, listAlmostSame } from '../src/index.js'

t.test('names are almost the same if only the Unicode form or blanks around them differ', async (t) => {
  const same: [string, string][] = [
    ['Caf\u00e9', 'Cafe\u0301'],
    ['Hot leads ', 'Hot leads'],
    ['\u00a0Hot leads', 'Hot leads\t'],
    ['\u212b', '\u00c5'],
    ['\uac00', '\u1100\u1161'],
  ]
  for (const [one, other] of same) {
    t.equal(findAlmostSame(one, ['x', other]), other)
    t.equal(findAlmostSame(other, [other, one]), one, 'the same name is another matter')
  }
  for (const [one, other] of [
    ['Hot leads', 'hot leads'],
    ['Hot leads', 'Hot  leads'],
    ['a', 'b'],
    ['a', 'a'],
  ])
    t.equal(findAlmostSame(one as string, [other as string]), undefined)
})

t.test('new names are compared with those before them, too', async (t) => {
  t.strictSame(listAlmostSame(['a ', 'b', 'a', 'c\t', 'a'], ['c', 'c', 'd']), [
    { name: 'a', other: 'a ' },
    { name: 'c\t', other: 'c' },
    { name: 'a', other: 'a ' },
  ])
})
