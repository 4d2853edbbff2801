import { EnvironmentError } from '@automation/environment'
import { Command, CommanderError } from 'commander'
import { CommandFault } from './command-fault.js'

/** Stands in examples for the id of anything. */
export const exampleId = '01984f6e-5d3c-7a10-9c0e-2b6f4d1a8e77'

interface Description {
  name: string
  description: string
  /** What may stand behind the name. */
  example: string
}

/** A program whose commands all take --json and tell their faults in the same way. */
export function createProgram(description: Description): Command {
  const program = new Command()
    .option('--json', 'print one JSON document and nothing else (npm run --silent keeps npm quiet, too)')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(capitalise(text.replace(/^error: /, ''))) })
    .exitOverride()
  return describe(program, description)
}

/** A command below another one; options and action are up to the caller. */
export function addCommand(parent: Command, description: Description): Command {
  return describe(parent.command(description.name), description)
}

/** What a command has to say: text for people, and the same as a value for programs. */
export function print(command: Command, value: unknown, text: string): void {
  console.log(command.optsWithGlobals().json ? JSON.stringify(value, null, 2) : text)
}

/** Runs what the command line asks for. A fault is a sentence on stderr: exit code 2 for the command line itself, else 1. */
export async function runProgram(program: Command, args = process.argv.slice(2)): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = tellFault(error)
  }
}

function describe(command: Command, { name, description, example }: Description): Command {
  return command
    .name(name)
    .description(description)
    .addHelpText('after', () => `\nExample:\n  ${pathOf(command)} ${example}`)
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

function tellFault(error: unknown): number {
  // Commander has told it, or it was a question for help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CommandFault) {
    console.error(error.message)
    return error.exitCode
  }
  console.error(error instanceof EnvironmentError ? error.message : error)
  return 1
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
