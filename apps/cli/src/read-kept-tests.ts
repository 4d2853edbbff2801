import { stat } from 'node:fs/promises'
import type { RuleFile } from '@automation/rules'
import { readRuleFile } from './read-rule-file.js'

/** The tests of a file that an export replaces: a workspace has none, so they would be lost. None where there is no such file. */
export async function readKeptTests(path: string): Promise<Pick<RuleFile, 'tests'>> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!isFile) return {}
  const { json } = await readRuleFile(path)
  const tests = (json as Partial<RuleFile> | null)?.tests
  return Array.isArray(tests) ? { tests } : {}
}
