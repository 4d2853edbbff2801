/** The exit codes of all commands. Each has one meaning everywhere, so that a script can rely on it. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** As with `diff`, so that a script can detect changes. */
  changes: 2,
  declined: 3,
  /** EX_USAGE of sysexits.h. It differs from `changes`: a misspelt option must not look like a change. */
  usage: 64,
} as const

export type ExitName = keyof typeof exitCodes
export type ExitCode = (typeof exitCodes)[ExitName]

/** What the codes mean, for the help of a command. A command adds those that it has in particular. */
export const exitMeanings: Record<ExitName, string> = {
  done: 'done',
  failed: 'failed; the message says why',
  changes: 'with --plan: there are changes',
  declined: 'you did not confirm, and nothing was changed',
  usage: 'the command line is wrong, and nothing was done',
}
