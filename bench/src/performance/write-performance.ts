import { readFile, writeFile } from 'node:fs/promises'
import type { Command } from '../options.js'
import { drawPerformance } from './draw-performance.js'
import type { Performance } from './performance.js'
import { writeHeadlines } from './write-headlines.js'
import { writeTables } from './write-tables.js'

const parts = [
  { name: 'figures', write: writeTables },
  { name: 'headlines', write: writeHeadlines },
]

/** Writes the results as a picture and into the marked parts of texts, if the command asks for them. */
export async function writePerformance(
  { svg, markdown }: Pick<Command, 'svg' | 'markdown'>,
  performance: Performance,
): Promise<void> {
  if (svg) await writeFile(svg, drawPerformance(performance))
  for (const file of markdown)
    await writeFile(file, fillMarks(await readFile(file, 'utf8'), performance, file))
}

/** @throws Error for a text without marks */
export function fillMarks(text: string, performance: Performance, file: string): string {
  let filled = text
  for (const { name, write } of parts) {
    const begin = `<!-- ${name}: made by npm run bench, not by hand -->`
    const end = `<!-- end of ${name} -->`
    const [before, rest] = filled.split(begin)
    const after = rest?.split(end)[1]
    if (after !== undefined) filled = `${before}${begin}\n\n${write(performance)}\n\n${end}${after}`
  }
  if (!parts.some(({ name }) => text.includes(`<!-- end of ${name} -->`)))
    throw new Error(`${file} has no marks: ${parts.map(({ name }) => `<!-- end of ${name} -->`).join(', ')}`)
  return filled
}
