import { listLongFaults, listLongWarnings, listRepeatedFaults } from '@automation/engine'
import { readText } from './read-text.js'
import { createRuleFileError, describeFaults } from './rule-file-error.js'
import { guessFormat, type RuleFormat, type RuleText, readRuleText } from './rule-text.js'

/**
 * Reads a file of rules; `-` is standard input. It warns on stderr of numbers in tests that became texts.
 *
 * @throws CommandError if it cannot be read, is not UTF-8, has names that are there twice, or rules with numbers that have more digits than a double
 * keeps
 */
export async function readRuleFile(path: string, format: RuleFormat = guessFormat(path)): Promise<RuleText> {
  const content = await readText(path)
  const source = readRuleText(content, path, format)
  // YAML refuses them by itself.
  const repeated = format === 'json' ? listRepeatedFaults(content) : []
  const faults = [...repeated, ...listLongFaults(source.longNumbers)]
  if (faults.length > 0) throw createRuleFileError(path, source, faults)
  for (const line of describeFaults(path, source, listLongWarnings(source.longNumbers))) console.error(line)
  return source
}
