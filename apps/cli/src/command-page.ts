import type { Command } from 'commander'
import { createAdmin } from './create-admin.js'
import { createClientProgram } from './create-client-program.js'
import { createWebhook } from './create-webhook.js'
import { type ExitName, exitCodes, exitMeanings } from './exit-codes.js'
import { pathOf } from './program.js'

/** A part of a help, such as `Options:` with its items. An item is its lines. A text has no items. */
interface Section {
  title: string
  items: string[]
}

const columns = 110
const nearlyAll = 0.9
const exits = 'Exit codes:'
const [start, end] = ['<!-- generated: commands -->\n', '<!-- end -->']

/**
 * Replaces the reference part of docs/reference/command-line.md by the help of every command. What all commands have in common stands above that part. What
 * all commands of a program have in common stands once, before them.
 */
export async function fillCommandPage(page: string): Promise<string> {
  const [before = '', rest] = page.split(start)
  const after = rest?.split(end)[1]
  if (after === undefined) throw new Error('docs/reference/command-line.md has no generated part')
  const programs = [await createClientProgram(), createAdmin(), createWebhook()]
  const known = [...findCommon(programs.flatMap(listLeaves)), describeExits()]
  const parts = programs.flatMap((program) => writeProgram(program, known))
  return `${before}${start}${parts.join('\n')}${end}${after}`
}

/** The help of a command, as the command prints it. */
export function readHelp(command: Command): string {
  let help = ''
  command.configureOutput({
    getOutHelpWidth: () => columns,
    writeOut: (text) => {
      help += text
    },
  })
  command.outputHelp()
  return help
}

/** The commands that do something; a group is only its commands. */
export function listLeaves(command: Command): Command[] {
  const visible = command.createHelp().visibleCommands(command)
  const children = command.commands.filter((one) => visible.includes(one))
  return children.length === 0 ? [command] : children.flatMap(listLeaves)
}

function writeProgram(program: Command, known: Section[]): string[] {
  const leaves = listLeaves(program)
  const own = leaveOut(findCommon(leaves), known)
  const heading = `## ${pathOf(program).replace(/ --$/, '')}\n${program.description()}\n`
  const helps = leaves.map((leaf) => writeHelp(leaf, [...known, ...own]))
  return [own.length > 0 ? `${heading}\n${writeBlock(own)}` : heading, ...helps]
}

/** The description stands as text above the rest, which keeps its columns. */
function writeHelp(leaf: Command, known: Section[]): string {
  const [usage, description, ...rest] = leaveOut(readSections(leaf), known)
  const words = pathOf(leaf).split(' -- ')[1]
  const text = withoutLayout(description?.title ?? '')
  return `### ${words}\n${text}\n${writeBlock([...(usage ? [usage] : []), ...rest])}`
}

function readSections(command: Command): Section[] {
  return readHelp(command)
    .trimEnd()
    .split('\n\n')
    .map((part) => {
      const [title = '', ...lines] = part.split('\n')
      const isList = title.endsWith(':') && lines.every((line) => line.startsWith('  '))
      return isList ? { title, items: lines.join('\n').split(/\n(?= {2}\S)/) } : { title: part, items: [] }
    })
}

/** The options and variables of the environment that nearly all the commands have. */
function findCommon(commands: Command[]): Section[] {
  const [first = [], ...others] = commands.map(readSections)
  return first
    .map(({ title, items }) => ({
      title,
      items: items.filter((item) => {
        const having = others.filter((sections) => hasItem(sections, title, item))
        return having.length >= others.length * nearlyAll
      }),
    }))
    .filter(({ title, items }) => title !== exits && items.length > 0)
}

/** The usual meanings. A command shows those that it has beside them. */
function describeExits(): Section {
  const names = Object.keys(exitCodes) as ExitName[]
  return {
    title: exits,
    items: names.map((name) => `  ${`${exitCodes[name]}`.padEnd(3)} ${exitMeanings[name]}`),
  }
}

/** What is left of a section has its title; a section of which nothing is left goes. */
function leaveOut(sections: Section[], known: Section[]): Section[] {
  return sections
    .map(({ title, items }) => ({ title, items: items.filter((item) => !hasItem(known, title, item)) }))
    .filter(({ items }, index) => items.length > 0 || sections[index]?.items.length === 0)
}

function hasItem(sections: Section[], title: string, item: string): boolean {
  return sections
    .filter((section) => section.title === title)
    .some(({ items }) => items.some((one) => withoutLayout(one) === withoutLayout(item)))
}

const withoutLayout = (text: string): string => text.replaceAll(/\s+/g, ' ')

function writeBlock(sections: Section[]): string {
  const lines = sections.flatMap(({ title, items }) => [title, ...items])
  return `\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`
}
