import { readdir, readFile, writeFile } from 'node:fs/promises'
import { alignColumns } from '../report.js'

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[]
  samples: number[]
  timeDeltas: number[]
}

/** Writes a summary of each CPU profile beside it: the time of each package, and the slowest functions. */
export async function summarizeProfiles(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith('.cpuprofile')) continue
    const profile = JSON.parse(await readFile(`${directory}/${name}`, 'utf8')) as Profile
    await writeFile(`${directory}/${name}.txt`, summarize(profile))
  }
}

/** Shares of the time in which the process was not idle. */
function summarize({ nodes, samples, timeDeltas }: Profile): string {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const places = new Map<string, number>()
  const functions = new Map<string, number>()
  let busy = 0
  samples.forEach((id, index) => {
    const frame = frames.get(id)
    if (frame === undefined || frame.functionName === '(idle)') return
    const micros = timeDeltas[index] ?? 0
    const place = placeOf(frame.url, frame.functionName)
    busy += micros
    add(places, place, micros)
    add(functions, `${frame.functionName || '(anonymous)'}  ${place}`, micros)
  })
  return [places, functions].map((times) => formatShares(times, busy)).join('\n')
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
  return `${alignColumns([['where', 'of its time'], ...rows])}\n`
}

function add(times: Map<string, number>, key: string, micros: number): void {
  times.set(key, (times.get(key) ?? 0) + micros)
}
