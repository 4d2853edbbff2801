// Searches the site that was built as a reader does. It fails if a page does not come first for the words with which people look for it.
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { options, searchOptions } from './.vitepress/search.mjs'

/** Words, and the page that must come first. */
const wanted = {
  limits: 'reference/limits',
  'rate limit': 'reference/api',
  approval: 'guides/recipes/time',
  retry: 'guides/retry-replay-cancel',
  stripe: 'guides/recipes/webhooks',
  schedule: 'guides/schedules',
  cron: 'guides/schedules',
  'viewer role': 'reference/authentication',
  'api key': 'reference/authentication',
  'command line': 'reference/command-line',
  'error messages': 'reference/messages',
  backup: 'operate/backup',
  quickstart: '',
}

const MiniSearch = createRequire(import.meta.resolve('vitepress'))('minisearch')
const chunks = new URL('dist/assets/chunks/', import.meta.url)
const [name] = readdirSync(chunks).filter((file) => file.startsWith('@localSearchIndex'))
const { default: json } = await import(new URL(name, chunks))
// What VitePress indexes.
const index = MiniSearch.loadJSON(json, { fields: ['title', 'titles', 'text'], ...options })
for (const [words, page] of Object.entries(wanted)) {
  const [first] = index.search(words, searchOptions)
  const found = first?.id.replace(/^\/docs\/|#.*/g, '')
  if (found !== page)
    throw new Error(
      `A search for "${words}" shows ${found} first, and not ${page}: weigh it in site/.vitepress/search.mjs, or use the words in the page.`,
    )
}
console.log(`${Object.keys(wanted).length} searches show the right page first.`)
