import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { cutText } from '../src/texts/cut-text.js'

t.test('a text is cut by characters, and a pair of surrogates stays whole', async (t) => {
  for (const [text, length, cut] of [
    ['', 0, ''],
    ['abc', 3, 'abc'],
    ['abc', 2, 'ab…'],
    ['ab😀', 3, 'ab😀'],
    ['ab😀c', 3, 'ab😀…'],
    ['ab😀', 2, 'ab…'],
    ['😀😀😀', 3, '😀😀😀'],
    ['abc', 0, '…'],
  ] as const)
    t.equal(cutText(text, length, '…'), cut, `${text} to ${length}`)
  t.equal(cutText('abc', 2), 'ab')
})

t.test('the beginning of any text is that of its characters, and no half of one is new', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\0', '\ud83d', '\ude00') })
  fc.assert(
    fc.property(text, fc.nat(12), (text, length) => {
      const cut = cutText(text, length)
      assert.equal(cut, [...text].slice(0, length).join(''))
      if (text.isWellFormed()) assert.ok(cut.isWellFormed())
    }),
  )
})
