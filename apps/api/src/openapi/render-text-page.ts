import { readFile } from 'node:fs/promises'
import { escapeHtml } from '@automation/engine'
import { Marked, type Tokens } from 'marked'
import { docsDirectory } from '../docs-directory.js'
import { pageFiles, textPages } from './docs-pages.js'

type TextPage = (typeof textPages)[number]

/** Renders a document of docs/ as a page that loads nothing. */
export async function renderTextPage(name: TextPage): Promise<string> {
  const markdown = await readFile(new URL(pageFiles[name], docsDirectory), 'utf8')
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<nav><a href="./">Reference</a> ${textPages.map((page) => `<a href="${page}">${titles[page]}</a>`).join(' ')}</nav>
<main>
${writeHtml(markdown)}
</main>
</body>
</html>
`
}

const titles: Record<TextPage, string> = {
  rules: 'Language of rules',
  recipes: 'Recipes',
  signing: 'Signatures of webhooks',
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 70rem; padding: 1rem }
nav a { margin-right: 1rem }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; border-radius: .4rem }
code { font: .875em ui-monospace, monospace }
table { display: block; overflow-x: auto; border-collapse: collapse }
th, td { border: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top }
`

function writeHtml(markdown: string): string {
  const text = markdown.replace(/<!--.*?-->\n/g, '')
  const marked = new Marked({
    async: false,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens)
        const target = findTarget(href)
        return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`
      },
    },
  })
  return marked.parse(text) as string
}

/** As GitHub names the anchors of headings. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** Only the pages that are served here are linked. undefined for another file of the repository. */
function findTarget(href: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href
  const [, page, anchor = ''] = /^(?:\.\.\/)?(?:\w+\/)?(\w+)\.md(#.*)?$/.exec(href) ?? []
  return textPages.some((name) => name === page) ? `${page}${anchor}` : undefined
}
