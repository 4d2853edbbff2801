import type { Database } from '@automation/database'
import type { LoadedEvent } from '@automation/ledger'
import type { Causation } from '../executions/causation.js'
import { findAddressee } from './addressee.js'
import { createCompiledRules, makeSetOfOne, noRules, type RuleSet } from './rule-set.js'

/** Creates a function that finds the rules that an event meets: those of its type, or its addressee alone. */
export function createRuleFinder(
  database: Database,
  causation: Causation,
): (event: LoadedEvent) => Promise<RuleSet> {
  const findRules = createCompiledRules(database)
  return async (event) => {
    const { addressee, rootId, rulesVersion } = event
    // What a rule emitted and left waiting ends with it: a flood stops when its rule is switched off.
    if (rootId !== null && (await causation.isCauseOff(event))) return { ...noRules, rulesVersion }
    if (addressee === null) return findRules(event)
    const found = await findAddressee(database, event, addressee)
    return makeSetOfOne(found.rule, found.rulesVersion)
  }
}
