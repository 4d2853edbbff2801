import type { Fault } from '@automation/engine'
import { Type } from 'typebox'

/**
 * A live rule runs while it is active. A shadow does nothing: it is evaluated when somebody asks what it would have done.
 *
 *   live, active ◀──▶ live, inactive ◀──▶ shadow (inactive)
 *
 * A shadow is stored as inactive, so statements that select active rules leave it out.
 */
export const RuleMode = Type.Enum(['live', 'shadow'], {
  title: 'RuleMode',
  description:
    'live: the rule runs while it is active. shadow: it is inactive and does nothing, and GET /api/automation-rules/{id}/difference says what it would have done.',
})
export type RuleMode = Type.Static<typeof RuleMode>

/** Whether a stored rule is a shadow. */
export function isShadow({ mode }: { mode?: string }): boolean {
  return mode === 'shadow'
}

export function modeOf(rule: { mode: string }): RuleMode {
  return isShadow(rule) ? 'shadow' : 'live'
}

/** Of a request, or of an item in a file. */
interface Wished {
  mode?: unknown
  isActive?: unknown
}

/** The two fields of a new rule. */
export function completeMode({ mode, isActive }: Wished): { mode: RuleMode; isActive: boolean } {
  return mode === 'shadow'
    ? { mode, isActive: false }
    : { mode: 'live', isActive: isActive === undefined || isActive === true }
}

/** A stored rule never is both active and a shadow. */
export function settleMode<Fields extends { mode?: string; isActive?: boolean }>(fields: Fields): Fields {
  return isShadow(fields) ? { ...fields, isActive: false } : fields
}

export function findModeFaults({ mode, isActive }: Wished): Fault[] {
  return mode === 'shadow' && isActive === true
    ? [{ field: 'isActive', message: 'A rule in shadow mode is not active' }]
    : []
}
