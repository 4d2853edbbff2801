import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { listSources, root } from './fixtures/list-sources.js'

/** The beginning of a text by a number or a limit. A list that is cut so has its limit under another name. */
const cuts = [
  /\.(substring|substr)\(/,
  /(?<!toISOString\(\)|digest\('\w+'\)|\])\.slice\(0, (?:\d{2,}|\w+(?:Length|Text|Shown|Said|Characters)\b)/,
  /\$\{[^}`]*\.slice\(0, [^)]*\)\}…/,
  /\.slice\(0, [^)]*\)\.toWellFormed\(/,
]

/** What these cut: ids, a time, a list, what is searched and not shown, and characters as readers count them. */
const exceptions = [
  'packages/database/',
  'apps/cli/src/format-backtest.ts',
  'packages/engine/src/explaining/nearby-values.ts',
  'apps/worker/src/effects/credentials/create-scrubber.ts',
  'packages/engine/src/texts/truncate-text.ts',
]

t.test('a text is cut by cutText, which keeps a pair of surrogates whole', async (t) => {
  const found: string[] = []
  for (const name of await listSources()) {
    if (exceptions.some((exception) => name.startsWith(exception))) continue
    const lines = (await readFile(join(root, name), 'utf8')).split('\n')
    for (const line of lines) if (cuts.some((cut) => cut.test(line))) found.push(`${name}: ${line.trim()}`)
  }
  t.strictSame(found, [])
})
