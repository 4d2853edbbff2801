import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { listLongFaults, listLongWarnings } from '@automation/engine'
import { CommandError } from './command-error.js'
import { createRuleFileError, describeFaults } from './rule-file-error.js'
import { guessFormat, type RuleFormat, type RuleText, readRuleText } from './rule-text.js'

/**
 * Reads a file of rules; `-` is standard input. It warns on stderr of numbers in tests that became texts.
 *
 * @throws CommandError if it cannot be read, or if its rules have numbers with more digits than a double keeps
 */
export async function readRuleFile(path: string, format: RuleFormat = guessFormat(path)): Promise<RuleText> {
  const reading = path === '-' ? text(process.stdin) : readFile(path, 'utf8')
  const content = await reading.catch((error: Error) => {
    throw new CommandError(`${path} cannot be read: ${error.message}.`, { cause: error })
  })
  const source = readRuleText(content, path, format)
  const faults = listLongFaults(source.longNumbers)
  if (faults.length > 0) throw createRuleFileError(path, source, faults)
  for (const line of describeFaults(path, source, listLongWarnings(source.longNumbers))) console.error(line)
  return source
}
