import fc from 'fast-check'
import t from 'tap'
import { findNiceEnd, findQuarters } from '../../pages/logic/nice-scale.js'

t.test(
  'an axis ends at a round number at or above what it shows, and at most a bit more than twice as high',
  async (t) => {
    t.equal(findNiceEnd(0, 0.04), 0.04)
    t.equal(findNiceEnd(37, 1), 40)
    t.equal(findNiceEnd(1_100, 1), 2_000)
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 1e9, noNaN: true }), (most) => {
        const end = findNiceEnd(most, 0.001)
        return end >= most * 0.999999 && end <= most * 2.001
      }),
    )
  },
)

t.test('quarters begin at whole slices', async (t) => t.same(findQuarters(49), [0, 12, 25, 37]))
