import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { CommandError } from './command-error.js'
import { guessFormat, type RuleFormat, type RuleText, readRuleText } from './rule-text.js'

/** Reads a file of rules; `-` is standard input. @throws CommandError if it cannot be read */
export async function readRuleFile(path: string, format: RuleFormat = guessFormat(path)): Promise<RuleText> {
  const reading = path === '-' ? text(process.stdin) : readFile(path, 'utf8')
  const content = await reading.catch((error: Error) => {
    throw new CommandError(`${path} cannot be read: ${error.message}.`, { cause: error })
  })
  return readRuleText(content, path, format)
}
