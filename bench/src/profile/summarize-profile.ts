import { alignColumns } from '../table.js'

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[]
  samples: number[]
  timeDeltas: number[]
}

/** The time of each package, and the slowest functions: shares of the time in which the process was not idle. */
export function summarizeProfile(content: string): string {
  const { nodes, samples, timeDeltas } = JSON.parse(content) as Profile
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const places = new Map<string, number>()
  const functions = new Map<string, number>()
  let [busy, all] = [0, 0]
  samples.forEach((id, index) => {
    const frame = frames.get(id)
    const micros = timeDeltas[index] ?? 0
    all += micros
    if (frame === undefined || frame.functionName === '(idle)') return
    const place = placeOf(frame.url, frame.functionName)
    busy += micros
    add(places, place, micros)
    add(functions, `${frame.functionName || '(anonymous)'}  ${place}`, micros)
  })
  const head = `busy ${((100 * busy) / all).toFixed(0)} % of ${(all / 1e6).toFixed(1)} s\n`
  return [head, ...[places, functions].map((times) => formatShares(times, busy))].join('\n')
}

function placeOf(url: string, functionName: string): string {
  const own = /\/((?:apps|packages)\/[\w-]+)\/dist\/(.*)$/.exec(url)
  if (own) return `${own[1]} ${own[2]}`
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)
  if (installed) return installed[1] as string
  return url.startsWith('node:') ? url : functionName
}

function formatShares(times: Map<string, number>, busy: number): string {
  const rows = [...times]
    .sort(([, one], [, other]) => other - one)
    .slice(0, 40)
    .map(([name, micros]) => [name, `${((100 * micros) / busy).toFixed(1)} %`])
  return `${alignColumns([['code', 'of its time'], ...rows])}\n`
}

function add(times: Map<string, number>, key: string, micros: number): void {
  times.set(key, (times.get(key) ?? 0) + micros)
}
