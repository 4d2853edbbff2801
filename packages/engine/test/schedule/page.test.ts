import { readFileSync } from 'node:fs'
import t from 'tap'
import { describeTick } from '../../src/index.js'
import { listTicks } from './list-ticks.js'

const page = readFileSync(new URL('../../../../../docs/guides/schedules.md', import.meta.url), 'utf8')
const hourMs = 3_600_000

t.test('the examples of the page about schedules are what the engine computes', async (t) => {
  const rows = [...page.matchAll(/^\| `([^`]+)` (\S+\/\S+) \| (\d{4}-\d\d-\d\d)[^|]* \| ([^|]+) \|$/gm)]
  t.ok(rows.length >= 10)
  for (const [, cron = '', timezone = '', day = '', ticks = ''] of rows) {
    const start = Date.parse(day)
    const found = listTicks(cron, timezone, start - 24 * hourMs, start + 48 * hourMs)
      .map((at) => describeTick({ cron, timezone }, at, 0).localTime)
      .filter((text) => text.startsWith(day))
      .map((text) => text.slice(11).replace(':00.000', ''))
    t.equal(found.join(' ') || 'none', ticks, `${cron} in ${timezone} on ${day}`)
  }
})
