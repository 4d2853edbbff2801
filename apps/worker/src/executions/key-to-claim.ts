import { keyIdOf } from '@automation/database'
import { type Evaluation, scheduleType } from '@automation/engine'
import type { KeyToClaim, LoadedEvent } from '@automation/ledger'
import type { ReadyRule } from './ready-rule.js'

/** The key of an event for a rule. Undefined where the rule has no `perKey`, and for an execution by hand, which asks for nothing. */
export function keyToClaim(
  { id, compiled }: ReadyRule,
  { type, addressee, data }: LoadedEvent,
  evaluation: Evaluation,
): KeyToClaim | undefined {
  if ('fault' in compiled || compiled.perKey === undefined) return undefined
  if (addressee !== null && type !== scheduleType) return undefined
  const { perKey } = compiled
  const { key } = perKey.render(data, evaluation)
  return { keyId: keyIdOf(id, perKey.template, key), key, perKey }
}
