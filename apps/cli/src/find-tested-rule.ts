import { isUuid, type WorkspaceDatabase } from '@automation/database'
import { activeVersionOf, definitionToTest } from '@automation/rules'
import { chooseRule } from './choose-rule.js'
import { CommandError } from './command-error.js'
import { readFileInWorkspace } from './read-file-in-workspace.js'
import type { SubjectToTest } from './run-backtest.js'

/** What is tested, without its range. */
type Tested = Pick<SubjectToTest, 'ruleId' | 'active' | 'draft'> & { name: string }
type Tables = Pick<WorkspaceDatabase, 'rule' | 'ownEventType'>

/** @param rule its id or name @throws CommandError if the workspace has no such rule, or several */
export async function findStoredRule(tables: Tables, rule: string): Promise<Tested> {
  const found = await findStored(tables, rule)
  if (found === undefined)
    throw new CommandError(
      `The workspace has no rule ${JSON.stringify(rule)}. To list its rules: rules export.`,
    )
  return { name: found.name, ruleId: found.id, active: activeVersionOf(found) }
}

/**
 * The rule of a file, beside the stored rule of its name if there is one.
 *
 * @param rule its name, or the id of the stored rule; undefined: the file has one rule
 * @throws CommandError if it is not one rule, or if the file cannot be read or has faults
 */
export async function findFileRule(tables: Tables, path: string, rule: string | undefined): Promise<Tested> {
  const { rules } = await readFileInWorkspace(tables, path)
  const byId = rule !== undefined && isUuid(rule) ? await findStored(tables, rule) : undefined
  const chosen = chooseRule(path, rules, byId?.name ?? rule)
  const stored = byId ?? (await findStored(tables, chosen.name))
  return {
    name: chosen.name,
    draft: definitionToTest(chosen),
    ...(stored && { ruleId: stored.id, active: activeVersionOf(stored) }),
  }
}

/** By id or name. @throws CommandError if several rules have the name */
async function findStored({ rule: rows }: Tables, rule: string) {
  if (isUuid(rule)) {
    const found = await rows.findUnique({ where: { id: rule.toLowerCase() } })
    if (found !== null) return found
  }
  const named = await rows.findMany({ where: { name: rule }, take: 2 })
  if (named.length > 1)
    throw new CommandError(`The workspace has several rules ${JSON.stringify(rule)}: choose one by its id.`)
  return named[0]
}
