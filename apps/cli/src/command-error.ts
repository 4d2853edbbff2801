import { type ExitCode, exitCodes } from './exit-codes.js'

/** Ends a command with a sentence and without a stack, for errors that users can expect. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(message: string, options: ErrorOptions & { exitCode?: ExitCode } = {}) {
    super(message, options)
    this.exitCode = options.exitCode ?? exitCodes.failed
  }
}

/** What somebody typed is wrong. */
export function usageError(message: string, options: ErrorOptions = {}): CommandError {
  return new CommandError(message, { ...options, exitCode: exitCodes.usage })
}
