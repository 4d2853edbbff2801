import { EnvironmentError } from '@automation/environment'
import { Command, CommanderError } from 'commander'
import { CommandError } from './command-error.js'

/** An id for examples. */
export const exampleId = '01984f6e-5d3c-7a10-9c0e-2b6f4d1a8e77'

/** The exit code of `--plan` if there are changes, so that scripts can detect them, as with `diff`. */
export const changesExitCode = 2

interface Description {
  name: string
  description: string
  /** Arguments and options of an example call. */
  example: string
}

/** A program whose commands all take --json and report errors in the same way. */
export function createProgram(description: Description): Command {
  const program = new Command()
    .option(
      '--json',
      'print one JSON document and nothing else (use npm run --silent to hide the lines of npm)',
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(capitalise(text.replace(/^error: /, ''))) })
    .exitOverride()
  return describe(program, description)
}

/** Adds a command below another one. The caller adds its options and its action. */
export function addCommand(parent: Command, description: Description): Command {
  return describe(parent.command(description.name), description)
}

/** Prints the result of a command: as text for people, or as JSON for programs. */
export function print(command: Command, value: unknown, text: string): void {
  console.log(command.optsWithGlobals().json ? JSON.stringify(value, null, 2) : text)
}

/** Runs the command line. An error is a sentence on stderr with exit code 2 if the command line is wrong, otherwise 1. */
export async function runProgram(program: Command, args = process.argv.slice(2)): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = reportError(error)
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

function reportError(error: unknown): number {
  // Commander has printed the error, or the user asked for help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof CommandError) {
    console.error(error.message)
    return error.exitCode
  }
  console.error(error instanceof EnvironmentError ? error.message : error)
  return 1
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
