import { CommandError, usageError } from './command-error.js'

/**
 * The rule of a file that is meant.
 *
 * @param name undefined: the file has one rule
 * @throws CommandError if it is not one rule
 */
export function chooseRule<Rule extends { name?: unknown }>(
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
