// Writes the one font of the page: Inter, the letters of Western Europe, weights 400 to 700. Of 48 KB it leaves 28.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const source = createRequire(import.meta.url).resolve(
  '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
)
const folder = fileURLToPath(new URL('generated/', import.meta.url))
const output = `${folder}inter.woff2`
// It takes seconds, and is the same each time.
const newest = Math.max(...[source, fileURLToPath(import.meta.url)].map((file) => statSync(file).mtimeMs))
if (existsSync(output) && statSync(output).mtimeMs > newest) process.exit()

const { default: subsetFont } = await import('subset-font')
const ranges = [
  [0x20, 0x7e],
  [0xa0, 0xff],
]
/** Dashes, quotes, arrows and the like. What is missing comes from the font of the system. */
const marks = '–—‘’‚“”„•…‹›€™−↑↓'

const letters = ranges.flatMap(([first, last]) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
)
const font = await subsetFont(readFileSync(source), letters.join('') + marks, {
  targetFormat: 'woff2',
  variationAxes: { wght: { min: 400, max: 700 } },
})
mkdirSync(folder, { recursive: true })
writeFileSync(output, font)
