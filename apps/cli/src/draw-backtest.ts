import { formatCount } from '@automation/backtest/words'
import { maskControls } from './format.js'
import { formatMinute, type StoredReport } from './format-backtest.js'

const width = 960
const height = 360
const plot = { left: 84, right: 24, top: 64, bottom: 64 }
const plotWidth = width - plot.left - plot.right
const plotHeight = height - plot.top - plot.bottom
const floorY = height - plot.bottom
const ticks = 4

const style = `
  .surface { fill: #fcfcfb } .ink { fill: #0b0b0b } .soft { fill: #52514e } .line { stroke: #c9c8c4 }
  .active { stroke: #8f8e88 } .draft { stroke: #2a78d6 } path { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .surface { fill: #1a1a19 } .ink { fill: #ffffff } .soft { fill: #c3c2b7 } .line { stroke: #4a4a47 }
    .active { stroke: #b5b4ad } .draft { stroke: #3987e5 }
  }
  text { font: 12.5px system-ui, sans-serif } .title { font-size: 15px; font-weight: 600 }`

type Series = 'active' | 'draft'

/** Draws the matches over time as SVG, a step for each bucket: of the active version, of the draft, or of both. */
export function drawBacktest(name: string, report: StoredReport): string {
  const { overTime, bucketMs, active, draft } = report
  const shown: [Series, string][] = [
    ...(active === null ? [] : [['active', `version ${active.version}`] satisfies [Series, string]]),
    ...(draft === null ? [] : [['draft', 'draft'] satisfies [Series, string]]),
  ]
  const highest = Math.max(...shown.flatMap(([series]) => overTime.map((bucket) => bucket[series])), 0)
  const top = roundUp(highest)
  const title = escapeXml(`Matches of rule ${JSON.stringify(name)}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">
<style>${style}</style>
<rect class="surface" width="${width}" height="${height}" rx="6"/>
<text class="ink title" x="16" y="28">${title}</text>
${drawLegend(shown)}
${drawAxes(overTime, top, bucketMs)}
${shown.map(([series]) => `<path class="${series}" d="${drawSteps(overTime, series, top)}"/>`).join('\n')}
</svg>
`
}

function drawLegend(shown: [Series, string][]): string {
  return shown
    .map(([series, label], index) => {
      const x = plot.left + index * 160
      return `<path class="${series}" d="M${x},46h24"/><text class="soft" x="${x + 32}" y="50">${label}</text>`
    })
    .join('\n')
}

function drawAxes(overTime: StoredReport['overTime'], top: number, bucketMs: number): string {
  const counts = Array.from({ length: ticks + 1 }, (_, index) => (top / ticks) * index)
  const lines = counts.map((count) => {
    const y = yOf(count, top)
    return `<line class="line" x1="${plot.left}" x2="${width - plot.right}" y1="${y}" y2="${y}"/><text class="soft" x="${plot.left - 8}" y="${y + 4}" text-anchor="end">${formatCount(count)}</text>`
  })
  const times = Array.from({ length: ticks }, (_, index) => {
    const bucket = Math.floor((index / ticks) * overTime.length)
    const at = overTime[bucket]?.at
    const x = xOf(bucket, overTime.length)
    return at === undefined ? '' : `<text class="soft" x="${x}" y="${floorY + 20}">${formatMinute(at)}</text>`
  })
  const name = `<text class="soft" x="${plot.left}" y="${height - 16}">accepted at (UTC); matches in each ${formatWidth(bucketMs)}</text>`
  return [...lines, ...times, name].join('\n')
}

function drawSteps(overTime: StoredReport['overTime'], series: Series, top: number): string {
  const steps = overTime.map((bucket, index) => {
    const [x, next] = [xOf(index, overTime.length), xOf(index + 1, overTime.length)]
    return `${index === 0 ? 'M' : 'L'}${x},${yOf(bucket[series], top)}H${next}`
  })
  return steps.join('')
}

function xOf(bucket: number, buckets: number): number {
  return Math.round((plot.left + (bucket / Math.max(buckets, 1)) * plotWidth) * 10) / 10
}

function yOf(count: number, top: number): number {
  return Math.round((floorY - (count / top) * plotHeight) * 10) / 10
}

/** The next number of which a quarter is a whole number: 4, 8, 20, 40, 80, 200 … */
function roundUp(highest: number): number {
  for (let unit = 1; ; unit *= 10)
    for (const factor of [4, 8, 20]) if (unit * factor >= highest) return unit * factor
}

const minuteMs = 60_000

function formatWidth(ms: number): string {
  const [count, unit] =
    ms < 60 * minuteMs
      ? [ms / minuteMs, 'minute']
      : ms < 1_440 * minuteMs
        ? [ms / (60 * minuteMs), 'hour']
        : [ms / (1_440 * minuteMs), 'day']
  return count === 1 ? unit : `${count} ${unit}s`
}

function escapeXml(text: string): string {
  return maskControls(text).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
