import t from 'tap'
import { formatDuration } from '../src/index.js'

t.test('each unit ends before it counts up to the next one', async (t) => {
  const words: [ms: number, text: string][] = [
    [0, '< 1 ms'],
    [0.5, '1 ms'],
    [999.4, '999 ms'],
    [999.5, '1 s'],
    [59_900, '59.9 s'],
    [59_949, '59.9 s'],
    [59_950, '1 min'],
    [60_000, '1 min'],
    [89_999, '1 min'],
    [90_000, '2 min'],
    [119_000, '2 min'],
    [3_569_999, '59 min'],
    [3_570_000, '1 h'],
    [3_600_000, '1 h'],
    [5_400_000, '2 h'],
    [172_799_999, '48 h'],
    [172_800_000, '2 d'],
    [864_000_000, '10 d'],
  ]
  for (const [ms, text] of words) t.equal(formatDuration(ms), text, `${ms} ms`)
})

t.test('what takes longer never reads as less', async (t) => {
  const msPer: Record<string, number> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 }
  const read = (text: string) => {
    const [number, unit = ''] = text.replace('< ', '').split(' ')
    return Number(number) * (msPer[unit] ?? Number.NaN)
  }
  let before = 0
  for (let ms = 0; ms < 400_000_000; ms = Math.ceil(ms * 1.003) + 1) {
    const now = read(formatDuration(ms))
    if (!(now >= before)) t.fail(`${ms} ms reads as ${formatDuration(ms)}`)
    before = now
  }
  t.ok(before > 300_000_000)
})
