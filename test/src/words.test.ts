import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

// Phrases that are wrong in any context, over all that users and operators read. Words that depend on their context, such as
// "where", "beside" and "clause", are left to a reader.

const root = new URL('../../../', import.meta.url).pathname

const better: [RegExp, string][] = [
  [/\bverdicts?\b/i, 'result'],
  [/\bjudg(e|es|ed|ing)\b/i, 'evaluate'],
  [/\bdecisive clauses?\b/i, 'the conditions that decided it'],
  [/\b(the|signature) doctor\b/i, 'signature diagnosis'],
  [/\bthe books\b/i, 'the reconciliation'],
  [/\bthe rooms of\b/i, 'the code layout'],
  [/\bthe version before\b/i, 'the previous version'],
  [/\bworkers? (have |has )?ended\b|\bended (its|two|five|several|\d+) (more )?workers\b/i, 'crashed'],
  [/\bunder way\b/i, 'in progress'],
  [/\b(is|are|was|were) away\b/i, 'is unavailable'],
  [/\bfor ever\b/i, 'indefinitely'],
  [/\bby now\b/i, 'now, since then'],
  [/\bwhoever\b|\bwhichever\b/i, 'the name of what is meant'],
  [/\bnobody knows\b/i, 'it is unknown'],
  [/\blost by nobody\b/i, 'never lost'],
  [/\bgo(es)? round\b/i, 'loops'],
  [/\bsays? nothing new\b/i, 'is redundant'],
  [/\bneeds? you\b/i, 'needs attention'],
  [/\bmuch work\b/i, 'exceeds the evaluation limit'],
  [/\bunits of work\b/i, 'cost units'],
  [/\b(that|which) (is|are) none\b/i, 'is not a …'],
  [/\banew\b/i, 'again'],
  [/\bthe present (version|name|rules?)\b/i, 'the current version'],
  [/\bas many as you like\b/i, 'one or more'],
  [/\bpatience\b/i, 'timeout'],
  [/\bfor good\b/i, 'permanently'],
  [/\bif you like\b/i, 'optionally'],
  [/\bmust be (number|integer|array|object|string|boolean)\b/i, 'must be a number, an integer, a list, …'],
]

/** What maintainers read. */
const forMaintainers = /^internals\//
/** Their code is text: help and messages. */
const printed = new Set(['reference/command-line.md', 'reference/messages.md'])

/** What is wrong in a text, each phrase once. */
function findWrong(lines: string, phrases = better): string[] {
  const text = lines.replaceAll(/\s+/g, ' ')
  return phrases.flatMap(([phrase, instead]) => {
    const found = phrase.exec(text)
    if (found === null) return []
    const context = text.slice(Math.max(0, found.index - 60), found.index + 60)
    return [`"${found[0]}" should be "${instead}" in: ${context}`]
  })
}

async function readPages(): Promise<[string, string][]> {
  const names = (await readdir(join(root, 'docs'), { recursive: true })).filter(
    (name) => /\.(md|yml)$/.test(name) && !forMaintainers.test(name),
  )
  const paths = ['README.md', 'SECURITY.md', 'packages/client/README.md', 'examples/README.md']
  const pages = [...paths, ...names.map((name) => `docs/${name}`)].map(
    async (path): Promise<[string, string]> => {
      const text = await readFile(join(root, path), 'utf8')
      return [path, printed.has(path.slice('docs/'.length)) ? text : withoutCode(text)]
    },
  )
  return Promise.all(pages)
}

const withoutCode = (text: string): string => text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '')

/** The descriptions of a JSON document, such as that of the API. */
async function readDescriptions(path: string): Promise<string[]> {
  const texts: string[] = []
  JSON.parse(await readFile(join(root, path), 'utf8'), (key, value) => {
    if (/^(description|summary|title|legendFormat)$/.test(key) && typeof value === 'string')
      texts.push(withoutCode(value))
    return value
  })
  return texts
}

const isOneWord = ([phrase]: [RegExp, string]): boolean => !/ /.test(phrase.source)
const words = better.filter(isOneWord)
const phrases = better.filter((entry) => !isOneWord(entry))

/** What is wrong in the texts of a program. A single word may also be a name: it counts within a literal, or between the tags of a page. */
function findWrongInProgram(source: string): string[] {
  const code = withoutComments(source)
  return [...findWrong(code, phrases), ...readTexts(code).flatMap((text) => findWrong(text, words))]
}

/** Literals of several words, and what stands between the tags of a page. */
function readTexts(code: string): string[] {
  const literals = code.match(/'[^'\n=;[]*\w \w[^'\n=;[]*'|`[^`\n=;[]*\w \w[^`\n=;[]*`/g) ?? []
  return [...literals, ...(code.match(/>[^<>{}=;()]*</g) ?? [])]
}

function withoutComments(source: string): string {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)(\/\/|-- ).*$/gm, '')
  return code.replace(/\$\{[^{}]*\}/g, '…')
}

async function listSources(directory: string): Promise<string[]> {
  const names = await readdir(join(root, directory), { recursive: true })
  return names
    .filter((name) => /\.tsx?$/.test(name) && !/generated|\.d\.ts$|dist\//.test(name))
    .map((name) => join(directory, name))
}

async function listPrograms(): Promise<string[]> {
  const rooms = ['apps', 'packages'].map(async (kind) =>
    (await readdir(join(root, kind))).map((name) => `${kind}/${name}/src`),
  )
  const directories = [...(await Promise.all(rooms)).flat(), 'apps/console/pages']
  return (await Promise.all(directories.map((directory) => listSources(directory).catch(() => [])))).flat()
}

t.test('the list bites', async (t) => {
  const clean =
    "import { verdict } from './verdict.js' // the verdict\nif (a === 'b' && verdict !== 'c') return"
  t.strictSame(findWrongInProgram(clean), [])
  t.match(findWrong('It is gone for\ngood.'), [/should be "permanently"/])
  t.match(findWrongInProgram("const a = 'the verdict of a rule'"), [/should be "result"/])
  t.match(findWrongInProgram('`${n} workers ended while they had this run`'), [/should be "crashed"/])
  t.match(findWrongInProgram('<p>\n  Nothing\n  needs you.\n</p>'), [/should be "needs attention"/])
})

t.test('documents and descriptions use the words of the field', async (t) => {
  for (const [path, text] of await readPages()) t.strictSame(findWrong(text), [], path)
  for (const path of ['docs/openapi.json', 'docs/grafana/automation.json', 'package.json'])
    t.strictSame(
      (await readDescriptions(path)).flatMap((text) => findWrong(text)),
      [],
      path,
    )
})

t.test('messages, help, logs and the console use the words of the field', async (t) => {
  const paths = await listPrograms()
  t.ok(paths.length > 400, `${paths.length} sources`)
  for (const path of paths) {
    const wrong = findWrongInProgram(await readFile(join(root, path), 'utf8'))
    if (wrong.length > 0) t.fail(`${path}: ${wrong.join('\n')}`)
  }
})

t.test('a tenant reads no name of a setting', async (t) => {
  const settings = await readFile(join(root, '.env.example'), 'utf8')
  const names = [...settings.matchAll(/^#? ?([A-Z][A-Z_]{5,})=/gm)].map(([, name = '']) => name)
  t.ok(names.length > 30, `${names.length} settings`)
  const setting = new RegExp(`\\b(${names.join('|')})\\b`)
  const pages = (await listSources('apps/console/pages')).map(async (path) =>
    readTexts(withoutComments(await readFile(join(root, path), 'utf8'))),
  )
  const texts = [...(await readDescriptions('docs/openapi.json')), ...(await Promise.all(pages)).flat()]
  t.strictSame(
    texts.filter((text) => setting.test(text)),
    [],
  )
})
