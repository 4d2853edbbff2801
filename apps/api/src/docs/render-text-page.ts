import { escapeHtml } from '@automation/engine'
import { Marked, type Tokens } from 'marked'
import type { Chapter, Document } from './read-documents.js'

/**
 * Renders a document as a page that loads nothing, and lists all others.
 *
 * @param top where /docs/ is, as seen from the page
 */
export function renderTextPage(
  { address, title, markdown }: Document,
  chapters: Chapter[],
  top = '../'.repeat(address.split('/').length - 1),
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<nav><a href="${top || './'}">Start</a> <a href="${top}api/">API reference</a>
<details><summary>All pages</summary>
${chapters.map((chapter) => listPages(chapter, top)).join('\n')}
</details></nav>
<main>
${writeHtml(markdown, top)}
</main>
</body>
</html>
`
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 70rem; padding: 1rem }
nav a { margin-right: 1rem }
nav li { display: inline-block }
img { max-width: 100% }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; border-radius: .4rem }
code { font: .875em ui-monospace, monospace }
table { display: block; overflow-x: auto; border-collapse: collapse; --cover: Canvas 40%, transparent; --shadow: #8888, transparent;
  background: linear-gradient(to right, var(--cover)) left / 3rem 100% no-repeat local, linear-gradient(to left, var(--cover)) right / 3rem 100% no-repeat local,
    linear-gradient(to right, var(--shadow)) left / 1rem 100% no-repeat, linear-gradient(to left, var(--shadow)) right / 1rem 100% no-repeat }
th, td { border: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top }
`

function listPages({ title, documents }: Chapter, top: string): string {
  const links = documents.map(
    ({ address, title }) => `<li><a href="${top}${address || './'}">${escapeHtml(title)}</a></li>`,
  )
  return `<p>${escapeHtml(title)}</p><ul>${links.join('')}</ul>`
}

function writeHtml(markdown: string, top: string): string {
  const resolve = (href: string) => escapeHtml(href.startsWith('/') ? `${top}${href.slice(1)}` || './' : href)
  const marked = new Marked({
    async: false,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${resolve(href)}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text }: Tokens.Image) {
        return `<img src="${resolve(href)}" alt="${escapeHtml(text)}">`
      },
    },
  })
  return marked.parse(markdown) as string
}

/** As GitHub names the anchors of headings. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
