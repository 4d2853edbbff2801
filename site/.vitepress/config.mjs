import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { options, searchOptions } from './search.mjs'

// `npm run docs` writes pages/ and chapters.json from docs/ before it builds (apps/api/src/docs-site.ts).
const chapters = JSON.parse(readFileSync(new URL('../chapters.json', import.meta.url), 'utf8'))

export default defineConfig({
  title: 'Automation Rules',
  description: 'A self-hosted service that gives an application automation rules',
  base: '/docs/',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  cleanUrls: true,
  // The tests of the API look at all links, also at those to what the API serves beside the site.
  ignoreDeadLinks: true,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // Otherwise a page requests all pages that it shows a link to, and readers behind one address use up its requests.
  router: { prefetchLinks: false },
  markdown: {
    anchor: { slugify },
    config: writeTextAsText,
  },
  themeConfig: {
    nav: [{ text: 'API reference', link: 'api/', target: '_self', noIcon: true }],
    sidebar: chapters.map(({ title, documents }) => ({
      text: title,
      items: documents.map(({ title, address }) => ({ text: title, link: `/${address}` })),
    })),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: { options, searchOptions },
        translations: {
          modal: {
            noResultsText:
              'No page has such a word. Try another word for it, or begin at the start page, which leads to all pages. You searched for',
            resetButtonTitle: 'Clear the search',
          },
        },
      },
    },
    notFound: {
      title: 'There is no such page',
      quote:
        'The address may be of another version. Search above, or begin at the start page, which leads to all pages.',
      linkText: 'To the start page',
      linkLabel: 'To the start page',
    },
  },
})

/** As GitHub names the anchors of headings. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** `{{name}}` is a placeholder of ours and none of Vue's, and a page has no other tag than a line break. */
function writeTextAsText(md) {
  const { rules } = md.renderer
  const { text, code_inline: codeInline } = rules
  rules.code_inline = (tokens, index, ...rest) => {
    tokens[index].attrSet('v-pre', '')
    return codeInline(tokens, index, ...rest)
  }
  rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;')
  rules.html_inline = rules.html_block = (tokens, index) => {
    const { content } = tokens[index]
    return /^<br ?\/?>$/.test(content)
      ? content
      : md.utils.escapeHtml(content).replaceAll('{{', '&#123;&#123;')
  }
}
