import { readFile, writeFile } from 'node:fs/promises'
import type { Options } from '../options.js'
import { drawPerformance } from './draw-performance.js'
import type { Performance } from './performance.js'
import { writeTables } from './write-tables.js'

const begin = '<!-- figures: made by npm run bench, not by hand -->'
const end = '<!-- end of figures -->'

/** Writes the results as a picture and as tables, if the options ask for them. */
export async function writePerformance(
  { svg, markdown }: Pick<Options, 'svg' | 'markdown'>,
  performance: Performance,
): Promise<void> {
  if (svg) await writeFile(svg, drawPerformance(performance))
  if (!markdown) return
  const page = await readFile(markdown, 'utf8')
  const [before, rest = ''] = page.split(begin)
  const after = rest.split(end)[1]
  if (after === undefined) throw new Error(`${markdown} has not both marks: ${begin} and ${end}`)
  await writeFile(markdown, `${before}${begin}\n\n${writeTables(performance)}\n\n${end}${after}`)
}
