import type { RuleFile } from '@automation/rules'
import { CommandError } from './command-error.js'
import { readRuleFile } from './read-rule-file.js'

/** The tests of a file that an export replaces: a workspace has none, so that they would be lost. None where there is no such file. */
export async function readKeptTests(path: string): Promise<Pick<RuleFile, 'tests'>> {
  try {
    const { json } = await readRuleFile(path)
    const tests = (json as Partial<RuleFile> | null)?.tests
    return Array.isArray(tests) ? { tests } : {}
  } catch (error) {
    if (
      error instanceof CommandError &&
      (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
    )
      return {}
    throw error
  }
}
