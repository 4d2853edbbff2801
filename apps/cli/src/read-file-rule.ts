import { CommandError, usageError } from './command-error.js'
import { readRuleFile } from './read-rule-file.js'

/** The definition of a rule of a file, with its name. The API checks it. */
export async function readFileRule(
  path: string,
  named: string | undefined,
): Promise<Record<string, unknown>> {
  const { json } = await readRuleFile(path)
  const { rules } = (json ?? {}) as { rules?: unknown }
  if (!Array.isArray(rules)) throw new CommandError(`${path} has no list of rules.`)
  const rule = chooseRule<Record<string, unknown>>(path, rules, named)
  const { isActive: _, mode: __, expectEvery: ___, ...definition } = rule
  return definition
}

/**
 * The rule of a file that is meant.
 *
 * @param name undefined: the file has one rule
 * @throws CommandError if it is not one rule
 */
function chooseRule<Rule extends { name?: unknown }>(
  path: string,
  rules: readonly Rule[],
  name: string | undefined,
): Rule {
  const named = name === undefined ? rules : rules.filter((rule) => rule.name === name)
  const [chosen] = named
  if (chosen !== undefined && named.length === 1) return chosen
  if (name === undefined) throw usageError(`${path} has ${rules.length} rules: choose one with --rule.`)
  throw new CommandError(
    `${path} has ${named.length === 0 ? 'no rule' : `${named.length} rules`} ${JSON.stringify(name)}.`,
  )
}
