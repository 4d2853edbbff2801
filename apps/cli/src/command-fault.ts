/** Ends a command with a sentence and without a stack: something that was to be expected stands in the way. */
export class CommandFault extends Error {
  /** 2 where the command line itself is wrong. */
  readonly exitCode: 1 | 2

  constructor(message: string, options: ErrorOptions & { exitCode?: 1 | 2 } = {}) {
    super(message, options)
    this.exitCode = options.exitCode ?? 1
  }
}
