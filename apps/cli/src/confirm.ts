import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { CommandError, usageError } from './command-error.js'
import { exitCodes } from './exit-codes.js'
import { isForPrograms } from './program.js'

/** Of every command that does what cannot be undone. */
export const yesOption = ['--yes', 'skip the confirmation (required without a terminal)'] as const

/**
 * Prepares the confirmation of what cannot be undone. Call it before any work: a program without --yes fails at once.
 *
 * @param isInputRead standard input has something else than the user's answer
 * @returns asks a question such as `Revoke the API key?`, and throws a CommandError where the user does not say yes
 * @throws CommandError if there is neither --yes nor a terminal
 */
export function prepareConfirmation(
  command: Command,
  isInputRead = false,
): (question: string) => Promise<void> {
  if (command.opts<{ yes?: true }>().yes) return async () => {}
  if (isForPrograms(command) || isInputRead || !process.stdin.isTTY) {
    const hasPlan = command.options.some(({ flags }) => flags === '--plan')
    throw usageError(`Use ${hasPlan ? '--plan or ' : ''}--yes: there is no terminal to ask for confirmation.`)
  }
  return async (question) => {
    if (/^y(es)?$/i.test((await readAnswer(`${question} [y/N] `)).trim())) return
    throw new CommandError('Nothing was changed.', { exitCode: exitCodes.declined })
  }
}

/**
 * Reads the name of what the command is about, typed again.
 *
 * @param given the option --confirm
 * @throws CommandError if there is neither --confirm nor a terminal, or it is another name
 */
export async function confirmName(name: string, given: string | undefined): Promise<void> {
  if (given === undefined && !process.stdin.isTTY)
    throw usageError('Use --confirm: there is no terminal to ask for the name.')
  const typed = given ?? (await readAnswer('Type the name of the workspace: '))
  if (typed.trim() !== name)
    throw new CommandError(`That is not the name of the workspace. Nothing was changed.`, {
      exitCode: exitCodes.declined,
    })
}

/** The question is not part of the output, which may go into a file. */
async function readAnswer(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-C and Ctrl-D close the terminal without an answer. Newer versions of Node report that with an AbortError.
  const closing = once(terminal, 'close').then(() => '')
  const answer = terminal.question(question).catch(() => '')
  try {
    return await Promise.race([answer, closing])
  } finally {
    terminal.close()
  }
}
