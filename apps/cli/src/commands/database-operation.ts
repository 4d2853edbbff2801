import type { Command } from 'commander'
import { type Presentation, presentAnswer } from '../present-answer.js'
import { addCommand, type CommandDescription, print } from '../program.js'
import type { VariableName } from '../variables.js'

export type OptionRow = [flags: string, description: string, read?: Read]

type Read = (text: string) => unknown

/** What an operator does without a token. It calls the function that the route calls. */
export interface DatabaseOperation extends Presentation {
  /** The group and the command. */
  words: string
  description: string
  example: string
  reads?: VariableName[]
  exits?: CommandDescription['exits']
  argument?: OptionRow
  /** Options that are required, and the others. */
  needs?: OptionRow[]
  takes?: OptionRow[]
  // biome-ignore lint/suspicious/noExplicitAny: the options are those of this entry, as their readers return them
  run: (options: any) => Promise<unknown>
}

export function addDatabaseOperation(group: Command, row: DatabaseOperation): void {
  const { words, argument, needs = [], takes = [], reads = ['DATABASE_URL'], exits = [], run } = row
  const command = addCommand(group, { ...row, name: words.split(' ').at(-1) ?? '', reads, exits })
  if (argument !== undefined) command.argument(`<${argument[0]}>`, argument[1], argument[2])
  for (const [flags, description, read] of needs) command.requiredOption(flags, description, read as Read)
  for (const [flags, description, read] of takes) command.option(flags, description, read as Read)
  command.action(async () => {
    const { output: _, ...given } = command.opts()
    const options = { ...given, ...(argument && { [argument[0]]: command.processedArgs[0] }) }
    const answer = await run(options)
    print(command, answer, presentAnswer(row, answer, options))
  })
}
