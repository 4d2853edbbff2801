// npm run readability: how long the sentences of each page are, the heaviest page first. Code, links and headings do not count; a table cell or a list
// item ends a sentence. With pages as arguments (npm run readability -- docs/guides/waits.md) it prints their long sentences.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A sentence of more words than this is counted as long. */
const long = 25
const root = fileURLToPath(new URL('..', import.meta.url))
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
/** Made by commands from code, and looked up rather than read. */
const generated = /^docs\/(internals\/|reference\/(command-line|messages)\.md)/

const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', 'README.md', 'docs/*.md']
const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' })
const asked = process.argv.slice(2)

if (asked.length > 0) {
  for (const file of asked)
    for (const sentence of sentencesOf(file))
      if (countWords(sentence) > long) console.log(`${file}: ${sentence}`)
} else {
  const pages = files
    .split('\0')
    .filter((file) => file !== '' && !generated.test(file))
    .map((file) => ({ file, lengths: sentencesOf(file).map(countWords) }))
    .map(({ file, lengths }) => ({ file, lengths, ...summarize(lengths) }))
    .sort((left, right) => right.share - left.share)
  console.log(`${'page'.padEnd(44)}  words  sentences  words each  longer than ${long}`)
  for (const page of pages) print(page.file, page)
  print('all', summarize(pages.flatMap(({ lengths }) => lengths)))
}

function sentencesOf(file) {
  return blocksOf(readFileSync(root + file, 'utf8'))
    .flatMap((block) => [...segmenter.segment(block)].map(({ segment }) => segment.trim()))
    .filter((sentence) => countWords(sentence) > 0)
}

function countWords(text) {
  return (text.match(/[\p{L}\p{N}][\p{L}\p{N}'’.-]*/gu) ?? []).length
}

/** Paragraphs, list items and table cells as plain text. A piece of code is one word. */
function blocksOf(markdown) {
  return markdown
    .replace(/```[\s\S]*?```/g, '\n\n')
    .replace(/^(#.*|\|[-| :]+\||<.*>)$/gm, '\n\n')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`\n]*`/g, 'Code')
    .replace(/^\s*([-*]|\d+\.) /gm, '\n\n')
    .replace(/^\|.*\|$/gm, (row) => row.replaceAll('|', '\n\n'))
    .split(/\n\s*\n/)
    .map((block) => block.replace(/\s+/g, ' ').trim())
    .filter((block) => block !== '')
}

function summarize(lengths) {
  const words = lengths.reduce((sum, length) => sum + length, 0)
  const share = lengths.filter((length) => length > long).length / Math.max(lengths.length, 1)
  return { words, sentences: lengths.length, mean: words / Math.max(lengths.length, 1), share }
}

function print(name, { words, sentences, mean, share }) {
  const cells = [`${words}`.padStart(5), `${sentences}`.padStart(9), mean.toFixed(1).padStart(10)]
  console.log(`${name.padEnd(44)}  ${cells.join('  ')}  ${`${(100 * share).toFixed(1)} %`.padStart(14)}`)
}
