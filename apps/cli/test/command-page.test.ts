import { readdir, readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import t from 'tap'
import { fillCommandPage, listLeaves, readHelp } from '../src/command-page.js'
import { createAdmin } from '../src/create-admin.js'
import { createClientProgram } from '../src/create-client-program.js'
import { createWebhook } from '../src/create-webhook.js'
import { exitCodes } from '../src/exit-codes.js'
import { pathOf } from '../src/program.js'

const root = new URL('../../../../', import.meta.url)
const page = await readFile(new URL('docs/reference/command-line.md', root), 'utf8')
const admin = createAdmin()
const programs: Record<string, Command> = {
  admin,
  client: await createClientProgram(),
  webhook: createWebhook(),
}

t.test(
  'docs/reference/command-line.md has the help of every command, and once what all have in common',
  async (t) => {
    t.equal(
      await fillCommandPage(page),
      page,
      'run npm run commands and commit docs/reference/command-line.md',
    )
    for (const code of Object.values(exitCodes)) t.match(page, `\n| ${code} | `)
    await t.rejects(fillCommandPage('# Nothing'), {
      message: 'docs/reference/command-line.md has no generated part',
    })
  },
)

t.test('the help of every command has an example, its exit codes and its environment', async (t) => {
  const leaves = Object.values(programs).flatMap(listLeaves)
  t.ok(leaves.length > 25)
  for (const leaf of leaves) {
    const path = pathOf(leaf)
    const help = readHelp(leaf)
    t.match(page, `Usage: ${path} `, path)
    t.match(
      help.split('\nExample:\n  ')[1],
      new RegExp(`^${path.replace('npm run', 'npm run( -s)?')}[ \n]`),
      path,
    )
    t.match(help, /\nExit codes:\n {2}0 (.*\n)+? {2}1 (.*\n)+? {2}64 /, path)
    if (leaf.name() !== 'version') t.match(help, /\nEnvironment:\n {2}[A-Z_]+ /, path)
    const isAsking = leaf.options.some(({ long }) => long === '--yes' || long === '--confirm')
    t.equal(/\n {2}3 +you did not confirm/.test(help), isAsking, path)
  }
})

t.test('every command in the documents exists, with its options', async (t) => {
  const names = (await readdir(new URL('docs/', root), { recursive: true })).filter((name) =>
    name.endsWith('.md'),
  )
  const paths = ['README.md', 'CONTRIBUTING.md', ...names.map((name) => `docs/${name}`)]
  let calls = 0
  for (const path of paths) {
    const text = await readFile(new URL(path, root), 'utf8')
    for (const [line, name = '', rest = ''] of text.matchAll(
      /npm run (?:-s |--silent )?(admin|client|webhook) -- ([^`#\n]*)/g,
    )) {
      const { command, words } = walk(programs[name] ?? admin, rest.trim().split(/ +/))
      const known = [command, ...ancestorsOf(command)].flatMap(({ options }) =>
        options.map(({ long }) => long),
      )
      for (const word of words.filter((word) => word.startsWith('--') && word !== '--help'))
        t.ok(known.includes(word), `${path}: ${line}: ${word}`)
      if (command.commands.length > 0 && words[0] !== undefined && /^[a-z]/.test(words[0]))
        t.fail(`${path}: ${line}`)
      calls++
    }
  }
  t.ok(calls > 60, `${calls}`)
})

/** The command that the words name, and the words that are left. */
function walk(command: Command, words: string[]): { command: Command; words: string[] } {
  const child = command.commands.find((one) => one.name() === words[0])
  return child === undefined ? { command, words } : walk(child, words.slice(1))
}

function ancestorsOf({ parent }: Command): Command[] {
  return parent === null ? [] : [parent, ...ancestorsOf(parent)]
}
