import { EnvironmentError } from '@automation/process/settings'
import { Command, CommanderError, Option } from 'commander'
import { CommandError } from './command-error.js'
import { type ExitCode, exitCodes } from './exit-codes.js'

/** Prints an error as a sentence, where users can expect it. @returns the exit code */
export function reportError(error: unknown, program: Command, args: string[]): ExitCode {
  // Commander has printed the error, or the user asked for help.
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.done
    suggest(error, program, args)
    return exitCodes.usage
  }
  if (error instanceof CommandError) {
    console.error(error.message)
    return error.exitCode
  }
  console.error(error instanceof EnvironmentError ? error.message : error)
  return exitCodes.failed
}

/** Adds the suggestions that commander does not make itself. */
function suggest({ code }: CommanderError, program: Command, args: string[]): void {
  const { command, rest } = findCommand(program, args)
  // Commander misses a required option before it looks at the name that was misspelt.
  if (code === 'commander.missingMandatoryOptionValue') reportUnknownOption(command, rest)
  if (code === 'commander.unknownCommand') suggestPaths(program, rest[0])
}

function findCommand(program: Command, args: string[]): { command: Command; rest: string[] } {
  const names = args.filter((arg) => !arg.startsWith('-'))
  const child = program.commands.find((command) => command.name() === names[0])
  if (child === undefined || names[0] === undefined) return { command: program, rest: args }
  return findCommand(child, args.toSpliced(args.indexOf(names[0]), 1))
}

/** Prints commander's error for the first option that a command does not have, and the nearest name. */
function reportUnknownOption(command: Command, args: string[]): void {
  const parser = new Command().exitOverride().allowExcessArguments()
  parser.configureOutput(command.configureOutput()).action(() => {})
  for (let one: Command | null = command; one !== null; one = one.parent)
    for (const { flags } of one.options) parser.addOption(new Option(flags))
  try {
    parser.parse(args.flatMap(splitValue), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
  }
}

/** `--name=value` as two arguments: commander compares the whole of it with its names. */
function splitValue(arg: string): string[] {
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? []
  return name === undefined || value === undefined ? [arg] : [name, value]
}

/** Prints where a command of this name is: who types `export` means `rules export`. */
function suggestPaths(program: Command, name: string | undefined): void {
  const groups = program.commands.filter((group) => group.commands.some((command) => command.name() === name))
  if (groups.length === 0) return
  const paths = groups.map((group) => `${group.name()} ${name}`)
  const text = paths.length === 1 ? paths[0] : `one of ${paths.join(', ')}`
  console.error(`(Did you mean ${text}?)`)
}
