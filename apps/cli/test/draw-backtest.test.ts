import t from 'tap'
import { drawBacktest } from '../src/draw-backtest.js'
import type { StoredReport } from '../src/format-backtest.js'

const minuteMs = 60_000
const reportOf = (fields: Partial<StoredReport>) =>
  ({
    bucketMs: 5 * minuteMs,
    active: { version: 3, matched: 9, outranked: 0, suppressed: 0, replaced: 0, notJudged: 0 },
    draft: { matched: 20, outranked: 0, suppressed: 0, replaced: 0, notJudged: 0 },
    overTime: Array.from({ length: 12 }, (_, index) => ({
      at: new Date(index * 5 * minuteMs).toISOString(),
      active: index % 2,
      draft: index,
    })),
    ...fields,
  }) as StoredReport

t.test('a picture of a backtest has a title, axes, a legend and both series', async (t) => {
  const svg = drawBacktest('Hot & "cold" <leads>', reportOf({}))
  t.match(svg, '>Matches of rule &#34;Hot &#38; \\&#34;cold\\&#34; &#60;leads&#62;&#34;</text>')
  t.match(svg, '>version 3</text>')
  t.match(svg, '>draft</text>')
  t.match(svg, '>accepted at (UTC); matches in each 5 minutes</text>')
  t.match(svg, '>1970-01-01 00:15Z</text>')
  t.match(svg, '>20</text>', 'the axis ends above the highest bucket')
  const [active, draft] = [...svg.matchAll(/<path class="(\w+)" d="(M84,296[^"]*|M84[^"]*L[^"]*)"/g)]
  t.match([active?.[1], draft?.[1]], ['active', 'draft'])
  t.equal(draft?.[2]?.split('H').length, 13, 'a step for each bucket')
})

t.test('one that tests a single rule has one series, and one without matches an axis', async (t) => {
  const svg = drawBacktest('New', reportOf({ active: null, overTime: [] }))
  t.equal(svg.match(/<path class="draft"/g)?.length, 2, 'its key and its line')
  t.notMatch(svg, 'class="active"')
  t.match(svg, '>4</text>')
  t.notMatch(svg, 'NaN')
})
