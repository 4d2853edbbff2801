import { stat } from 'node:fs/promises'
import type { RuleFile } from '@automation/rules'
import { readRuleFile } from './read-rule-file.js'
import { readText } from './read-text.js'

/** What an export keeps of the file that it replaces. */
export interface KeptFile {
  /** A workspace has none, so they would be lost. */
  tests?: RuleFile['tests']
  /** Its text, in which comments may be. */
  text?: string
}

/** Nothing where there is no such file. */
export async function readKeptFile(path: string): Promise<KeptFile> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!isFile) return {}
  const { json } = await readRuleFile(path)
  const tests = (json as Partial<RuleFile> | null)?.tests
  return { text: await readText(path), ...(Array.isArray(tests) && { tests }) }
}
