/** Ends a command with a sentence and without a stack, for errors that users can expect. */
export class CommandError extends Error {
  /** 2 if the command line itself is wrong. */
  readonly exitCode: 1 | 2

  constructor(message: string, options: ErrorOptions & { exitCode?: 1 | 2 } = {}) {
    super(message, options)
    this.exitCode = options.exitCode ?? 1
  }
}
