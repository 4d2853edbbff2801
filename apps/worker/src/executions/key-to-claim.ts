import { keyIdOf } from '@automation/database'
import type { Evaluation } from '@automation/engine'
import type { KeyToClaim, LoadedEvent } from '@automation/ledger'
import type { ReadyRule } from './ready-rule.js'

/**
 * The key of an event for a rule, which is rendered with the work of a rule of its own. Undefined where the rule has no `perKey`, and for an execution by hand, which asks for nothing.
 *
 * @returns a text if the key cannot be rendered, which says why
 */
export function keyToClaim(
  { id, compiled }: ReadyRule,
  { addressee, data }: LoadedEvent,
  evaluation: Evaluation,
): KeyToClaim | string | undefined {
  if ('fault' in compiled || compiled.perKey === undefined) return undefined
  if (addressee?.kind === 'rule') return undefined
  const { perKey } = compiled
  evaluation.beginRule()
  const { key, fault, warnings } = perKey.render(data, evaluation)
  if (fault !== undefined) return fault
  return { keyId: keyIdOf(id, perKey.template, key), key, perKey, warnings }
}
