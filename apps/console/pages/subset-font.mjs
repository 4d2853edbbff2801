// Writes the one font of the page: Inter, the letters of Western Europe, weights 400 to 700. Of 48 KB it leaves 28.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import subsetFont from 'subset-font'

const source = createRequire(import.meta.url).resolve(
  '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
)
const folder = fileURLToPath(new URL('generated/', import.meta.url))
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
writeFileSync(`${folder}inter.woff2`, font)
