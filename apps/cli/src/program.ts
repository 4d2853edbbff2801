import { Command, Option } from 'commander'
import { type ExitName, exitCodes, exitMeanings } from './exit-codes.js'
import { reportError } from './report-error.js'
import { escapeControls, writeYaml } from './rule-text.js'
import { describeVariable, type VariableName } from './variables.js'

/** An id for examples. */
export const exampleId = '01984f6e-5d3c-7a10-9c0e-2b6f4d1a8e77'

interface Description {
  name: string
  description: string
  /** Arguments and options of an example call. */
  example: string
  /** A program reads its standard output, so npm must write nothing there. */
  isForProgram?: true
}

export interface CommandDescription extends Description {
  /** The environment that the command reads. */
  reads: VariableName[]
  /** Its exit codes beside those that every command has, or with a meaning of its own. */
  exits?: Partial<Record<ExitName, string>> | ExitName[]
  /** It has an --output of its own. */
  ownOutput?: true
}

const outputs = ['text', 'json', 'yaml']

/** A program whose commands all take --json and report errors in the same way. */
export function createProgram(description: Description): Command {
  const program = new Command()
    .option(
      '--json',
      'the same as --output json: print one document and nothing else (use npm run --silent to hide the lines of npm)',
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(capitalise(text.replace(/^error: /, ''))) })
    .exitOverride()
  return describeGroup(program, description)
}

/** Adds a command that only has commands below it, such as `rules`. */
export function addGroup(parent: Command, description: Description): Command {
  return describeGroup(parent.command(description.name), description)
}

/** Adds a command that does something. The caller adds its options and its action. */
export function addCommand(parent: Command, description: CommandDescription): Command {
  const { reads, exits = [] } = description
  const own = Array.isArray(exits)
    ? Object.fromEntries(exits.map((name) => [name, exitMeanings[name]]))
    : exits
  const { done, failed, usage } = exitMeanings
  const meanings: Partial<Record<ExitName, string>> = { done, failed, usage, ...own }
  const codes = Object.entries(exitCodes).flatMap(([name, code]): [string, string][] => {
    const meaning = meanings[name as ExitName]
    return meaning === undefined ? [] : [[`${code}`, meaning]]
  })
  const command = describe(parent.command(description.name), description)
  if (!description.ownOutput)
    command.addOption(
      new Option('--output <format>', 'how the result is written (default: text)').choices(outputs),
    )
  return command
    .addHelpText('after', ({ command }) => formatSection(command, 'Exit codes', codes))
    .addHelpText('after', ({ command }) =>
      formatSection(
        command,
        'Environment',
        reads.map((name) => [name, describeVariable(name)]),
      ),
    )
}

/** Prints the result of a command: as text for people, or as JSON or YAML for programs. */
export function print(command: Command, value: unknown, text: string): void {
  if (!isForPrograms(command)) console.log(text)
  else if (command.opts().output === 'yaml') console.log(writeYaml(value).trimEnd())
  else console.log(escapeControls(JSON.stringify(value, null, 2)))
}

export function isForPrograms(command: Command): boolean {
  const { json, output } = command.optsWithGlobals()
  return json === true || output === 'json' || output === 'yaml'
}

/** Runs the command line. An error is a sentence on stderr, and its exit code. */
export async function runProgram(program: Command, args = process.argv.slice(2)): Promise<void> {
  // Alone: some commands have an option of this name.
  const isVersion = args.length === 1 && args[0] === '--version' && program.commands.some(isCalled('version'))
  try {
    await program.parseAsync(isVersion ? ['version'] : args, { from: 'user' })
  } catch (error) {
    process.exitCode = reportError(error, program, args)
  }
}

const isCalled = (name: string) => (command: Command) => command.name() === name

function describeGroup(group: Command, description: Description): Command {
  return describe(group, description).addHelpText(
    'after',
    () =>
      `\nThe help of each command has its options, exit codes and environment:\n  ${pathOf(group)} <command> --help`,
  )
}

function describe(command: Command, { name, description, example, isForProgram }: Description): Command {
  return command
    .name(name)
    .description(description)
    .addHelpText('after', () => `\nExample:\n  ${exampleOf(command, example, isForProgram)}`.trimEnd())
}

function exampleOf(command: Command, example: string, isForProgram = false): string {
  const path = pathOf(command)
  return `${isForProgram ? path.replace('npm run ', 'npm run -s ') : path} ${example}`
}

export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

function formatSection(command: Command, title: string, items: [term: string, text: string][]): string {
  if (items.length === 0) return ''
  const help = command.createHelp()
  const { getOutHelpWidth } = command.configureOutput()
  help.prepareContext({ helpWidth: getOutHelpWidth?.() ?? 80 })
  const width = Math.max(...items.map(([term]) => term.length))
  return ['', `${title}:`, ...items.map(([term, text]) => help.formatItem(term, width, text, help))].join(
    '\n',
  )
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
