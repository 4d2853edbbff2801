import { isClause, listLeaves } from '../conditions/condition-parts.js'
import { isTextField } from '../configs/config-template.js'
import { listConfigUses } from '../configs/config-uses.js'
import type { Fault } from '../fault.js'
import { expiredChoice } from '../results/decision.js'
import { type Declared, findRoot } from '../results/recorded.js'
import type { Action } from '../rule.js'
import { compilePath, parsePath, readPath } from '../values/path.js'

/**
 * Finds what is known before any event comes: a `when` that asks for a value that is never recorded, and a text that would be a list or an
 * object, with which the action fails. Takes actions without faults.
 *
 * @param example data of an event of the rule's type
 */
export function findForeseen(actions: readonly Action[], declared: Declared, example: object): Fault[] {
  const known = declared.collects ? { ...example, collected: { events: [] } } : example
  return actions.flatMap((action, index) => {
    const place = `actions[${index}]`
    return [...findNeverRecorded(action, declared, place), ...findNoTexts(action, known, place)]
  })
}

function findNeverRecorded({ when }: Action, declared: Declared, place: string): Fault[] {
  if (when === undefined) return []
  return listLeaves(when, `${place}.when`).flatMap(({ leaf, path }) => {
    if (!isClause(leaf) || !/^(?:not_)?(?:equals|in)$/.test(leaf.operator)) return []
    const recorded = listRecorded(declared, leaf.field)
    const never = [leaf.value].flat().find((value) => typeof value === 'string' && !recorded?.includes(value))
    if (recorded === undefined || never === undefined) return []
    const message = `${leaf.field} is never ${JSON.stringify(never)}, but one of ${recorded.join(', ')}`
    return [{ field: `${path}.value`, message }]
  })
}

/** All values that a path can have; undefined for a path that has others, too. */
function listRecorded(declared: Declared, path: string): string[] | undefined {
  const root = findRoot(declared, path)
  const fact = parsePath(path)?.at(-1)
  if (root === 'decision' && fact === 'choice') return [...declared.links.options, expiredChoice]
  if (root !== 'actions') return undefined
  if (fact === 'outcome') return ['success', 'failed', 'skipped', 'unknown']
  return fact === 'ended' ? ['event', 'time'] : undefined
}

function findNoTexts({ type, config }: Action, known: object, place: string): Fault[] {
  return listConfigUses(config, place).flatMap(({ path, isWhole, filters, field, place: at }) => {
    if (field === 'forEach' || !isWhole || filters.length > 0 || !isTextField(type, field)) return []
    const value = readPath(compilePath(path), known)
    if (typeof value !== 'object' || value === null) return []
    const kind = Array.isArray(value) ? 'a list' : 'an object'
    return [
      {
        field: at,
        message: `{{${path}}} is ${kind}, and this field takes a text: use {{${path} | json}}, or a part of it`,
      },
    ]
  })
}
