import type { WorkspaceDatabase } from '@automation/database'
import { checkRuleFile, type RuleFile } from '@automation/rules'
import { readRuleFile } from './read-rule-file.js'
import { createRuleFileError } from './rule-file-error.js'
import type { RuleText } from './rule-text.js'

type Tables = Pick<WorkspaceDatabase, 'ownEventType'>

/** @throws CommandError if a file cannot be read, or has faults in the workspace */
export async function readFileInWorkspace(tables: Tables, path: string): Promise<RuleFile> {
  return checkInTables(tables, path, await readRuleFile(path))
}

/** Checks a file with the event types of a workspace's own. @throws CommandError that lists its faults */
export async function checkInTables(
  { ownEventType }: Tables,
  path: string,
  source: RuleText,
): Promise<RuleFile> {
  const ownTypes = await ownEventType.findMany({ select: { name: true } })
  const checked = checkRuleFile(source.json, new Set(ownTypes.map(({ name }) => name)))
  if ('faults' in checked) throw createRuleFileError(path, source, checked.faults)
  return checked.file
}
