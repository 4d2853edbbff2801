import { type Aim, formatReached, formatWanted } from '../aims.js'
import { type Part, parts } from '../cpu-time.js'
import { type Result, sumCpu, whole } from '../report.js'
import type { SustainedFigures } from '../sustained/report.js'
import type { Performance } from './performance.js'
import { costsOf, partNames, resultsOf } from './results-of.js'

const width = 960
const labelWidth = 380
const barWidth = 410
const rowHeight = 22
const barHeight = 13
const left = 16
const zeroX = left + labelWidth

/** Light and dark colours. An event passes through the parts in this order. */
const colors: Record<Part, [light: string, dark: string]> = {
  api: ['#2a78d6', '#3987e5'],
  worker: ['#1baf7a', '#199e70'],
  redis: ['#eda100', '#c98500'],
  postgres: ['#4a3aa7', '#9085e9'],
}

const style = `
  .surface { fill: #fcfcfb } .ink { fill: #0b0b0b } .soft { fill: #52514e } .line { stroke: #c9c8c4 } .aim { stroke: #0b0b0b }
  .met { fill: #8f8e88 } .undecided { fill: #d9a441 } .missed { fill: #d03b3b }
  ${parts.map((part) => `.${part} { fill: ${colors[part][0]} }`).join(' ')}
  @media (prefers-color-scheme: dark) {
    .surface { fill: #1a1a19 } .ink { fill: #ffffff } .soft { fill: #c3c2b7 } .line { stroke: #4a4a47 } .aim { stroke: #ffffff }
    .met { fill: #8f8e88 } .undecided { fill: #d9a441 } .missed { fill: #e66767 }
    ${parts.map((part) => `.${part} { fill: ${colors[part][1]} }`).join(' ')}
  }
  text { font: 12.5px system-ui, sans-serif } .title { font-size: 15px; font-weight: 600 }
  .number { font-variant-numeric: tabular-nums }`

/** Draws the results: the cost of an event in each process, and how far each aim is reached. */
export function drawPerformance(performance: Performance): string {
  // With one connection no batches form: its bars would be ten times as long as all others.
  const closed = (['events', 'growth', 'scale'] as const)
    .flatMap((name) => resultsOf(performance, name))
    .filter(({ connections, scenario }) => connections > 4 && !scenario.startsWith('trigger'))
    .map((result) => ({ ...result, label: `${result.scenario} @${result.connections}` }))
  const sustained = ((performance.sustained?.results ?? []) as SustainedFigures[])
    .filter(({ line, isSustained }) => line === 'sustained' && isSustained)
    .map((figures) => ({
      ...figures,
      label: `sustained, ${figures.mode}, ${whole(figures.donePerSecond)}/s`,
    }))
  const costs: Cost[] = [...sustained, ...closed]
  const runs = Object.values(performance)
  const aims = runs.flatMap((run) => run.aims)
  const circumstances = [
    ...new Set(runs.map(({ at, node, machine }) => `${at.slice(0, 10)}, Node ${node}, ${machine}`)),
  ]
  const costsHeight = 62 + costs.length * rowHeight
  const height = costsHeight + 78 + aims.length * rowHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="CPU an event, and aims">
<style>${style}</style>
<rect class="surface" width="${width}" height="${height}" rx="6"/>
${drawCosts(costs, 28)}
${drawAims(aims, costsHeight + 28)}
${text(left, height - 10, circumstances.join('; '), 'soft')}
</svg>
`
}

type Cost = Pick<Result, 'cpuMicrosPerEvent'> & { label: string }

function drawCosts(results: Cost[], top: number): string {
  const longest = Math.max(...results.map(sumCpu), 1)
  const legend = parts.map((part, index) => {
    const x = zeroX + index * 92
    return `<rect class="${part}" x="${x}" y="${top - 10}" width="10" height="10" rx="2"/>${text(x + 15, top, partNames[part], 'soft')}`
  })
  const rows = results.map((result, index) => {
    const y = top + 16 + index * rowHeight
    let x = zeroX
    const bars = costsOf(result).map(({ part, micros }) => {
      const length = (micros / longest) * barWidth
      // The gap separates neighbours also for readers who cannot distinguish their colours.
      const bar = `<rect class="${part}" x="${x.toFixed(1)}" y="${y}" width="${Math.max(0, length - 1.5).toFixed(1)}" height="${barHeight}" rx="1.5"><title>${partNames[part]}: ${whole(micros)} µs</title></rect>`
      x += length
      return length < 1 ? '' : bar
    })
    return `${text(left, y + 11, result.label, 'ink')}${bars.join('')}${text(x + 6, y + 11, `${whole(sumCpu(result))} µs`, 'soft number')}`
  })
  return [text(left, top, 'CPU an event', 'ink title'), ...legend, ...rows].join('\n')
}

/** The ratio of result and aim on a logarithmic scale from a quarter to 16. Right of the line, the aim is met. */
function drawAims(aims: Aim[], top: number): string {
  const lowest = -2
  const highest = 4
  const placeOf = (times: number) => {
    const doublings = Math.min(highest, Math.max(lowest, Math.log2(times)))
    return zeroX + ((doublings - lowest) / (highest - lowest)) * barWidth
  }
  const bottom = top + 22 + aims.length * rowHeight
  const scale = [0.25, 0.5, 1, 2, 4, 8, 16].map((times) => {
    const x = placeOf(times)
    return `<line class="${times === 1 ? 'aim' : 'line'}" x1="${x}" x2="${x}" y1="${top + 8}" y2="${bottom}"/>${text(x, top, `${times}×`, 'soft', 'middle')}`
  })
  const rows = aims.map((aim, index) => {
    const y = top + 16 + index * rowHeight
    const { reached, atLeast, atMost = Number.NaN } = aim
    const times = atLeast === undefined ? atMost / reached : reached / atLeast
    // A result of 0 meets an aim of 0 exactly.
    const [from, to] = [placeOf(1), placeOf(Number.isNaN(times) ? 1 : times)]
    const bar = `<rect class="${aim.verdict}" x="${Math.min(from, to).toFixed(1)}" y="${y}" width="${Math.max(2, Math.abs(to - from)).toFixed(1)}" height="${barHeight}" rx="1.5"/>`
    const label = `${formatReached(aim)} (${formatWanted(aim)})${aim.verdict === 'undecided' ? ', undecided' : ''}`
    return `${text(left, y + 11, aim.title, 'ink')}${bar}${text(width - left, y + 11, label, 'soft number', 'end')}`
  })
  return [text(left, top, 'Aims, times reached', 'ink title'), ...scale, ...rows].join('\n')
}

function text(x: number, y: number, content: string, className: string, anchor = 'start'): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text class="${className}" x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}">${escaped}</text>`
}
