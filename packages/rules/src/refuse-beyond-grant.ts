import { type EmbedGrant, Refused } from '@automation/access'
import type { WorkspaceTransaction } from '@automation/database'
import { type Action, listCredentialUses } from '@automation/engine'
import { listNamedTypes } from './own-names.js'

/** What the embed session of an author may; undefined: the author has none, and nothing of this applies. */
export type Grant = Pick<EmbedGrant, 'allow' | 'publish' | 'rule'> | undefined

/** What a grant looks at in a rule, also in one of another author. */
export interface GrantedDefinition {
  trigger: string
  actions: unknown
  /** Of rules of which one runs, and its place among them. */
  group?: string | null
  order?: number | null
}

/** A rule that a session creates. @throws Refused */
export function refuseToCreate(grant: Grant, fields: GrantedDefinition & { isActive: boolean }): void {
  if (grant === undefined) return
  if (grant.rule !== undefined) throw limited('The embed session is limited to another rule')
  if (fields.isActive) refuseToPublish(grant, 'create the rule with isActive false')
  refuseForbidden(grant, fields)
}

/** A change of a rule that runs, or may run. @throws Refused */
export function refuseToChange(
  grant: Grant,
  before: GrantedDefinition & { id: string },
  after: GrantedDefinition,
): void {
  if (grant === undefined) return
  refuseToPublish(grant, 'save a draft')
  refuseToWrite(grant, before, after)
}

/** What becomes of a rule, or of its draft. A rule with anything that is not allowed is left as it is. @throws Refused */
export function refuseToWrite(
  grant: Grant,
  before: GrantedDefinition & { id: string },
  after: GrantedDefinition,
): void {
  if (grant === undefined) return
  if (grant.rule !== undefined && grant.rule !== before.id)
    throw limited('The embed session is limited to another rule')
  refuseForbidden(grant, before)
  refuseForbidden(grant, after)
  if (grant.rule !== undefined) refuseOtherNames(grant, before, after)
}

export function refuseToPublish(grant: Grant, advice: string): void {
  if (grant?.publish === false)
    throw limited(`The embed session has publish false, so it changes no rule that runs: ${advice}`)
}

/** @throws Refused with the path of the first thing that `allow` has not */
export function refuseForbidden(grant: Grant, definition: GrantedDefinition): void {
  const found = findForbidden(grant, definition)
  if (found !== undefined)
    throw limited(
      `The embed session does not allow ${found.field}: ${found.name} is not in allow.${found.kind}`,
    )
}

function findForbidden(grant: Grant, definition: GrantedDefinition): Part | undefined {
  if (grant?.allow === undefined) return undefined
  const { triggers, actions, credentials } = grant.allow
  const allowed: Record<Part['kind'], readonly string[] | undefined> = { triggers, actions, credentials }
  return listParts(definition).find(({ kind, name }) => allowed[kind]?.includes(name) === false)
}

/**
 * A session of one rule sees the events of its trigger alone, and leaves other rules as they are. So it cannot make the rule name other
 * types, which it would then see or send, unless `allow.triggers` has them; nor move it into a group, or in it, whose rules it would outrank.
 *
 * @param after of any shape: `group` and `order` may be left out
 * @throws Refused
 */
export function refuseOtherNames(grant: Grant, before: GrantedDefinition, after: GrantedDefinition): void {
  const granted = grant?.allow?.triggers ?? []
  const own = new Set([...listNamedTypes(before).map(({ name }) => name), ...granted])
  for (const { field, name } of listNamedTypes(after)) {
    const isOwn = field === 'trigger' ? [before.trigger, ...granted].includes(name) : own.has(name)
    if (!isOwn)
      throw limited(
        `The embed session is limited to one rule and the event types that it names: ${field} is ${name}`,
      )
  }
  for (const field of ['group', 'order'] as const)
    if (after[field] !== undefined && after[field] !== (before[field] ?? null))
      throw limited(`The embed session is limited to one rule, and ${field} is about others`)
}

/**
 * A rule that comes before another one of its group and trigger keeps it from running. So a session puts no rule beside one that it may not change.
 *
 * @param changes each rule with what it was before; one without that is new
 * @throws Refused
 */
export async function refuseForeignGroups(
  { rule: rules }: WorkspaceTransaction,
  grant: Grant,
  changes: { before?: GrantedDefinition; rule: GrantedDefinition }[],
): Promise<void> {
  if (grant?.allow === undefined) return
  const fields = ['group', 'order', 'trigger'] as const
  const moved = changes.filter(({ before, rule }) => fields.some((name) => before?.[name] !== rule[name]))
  const places = moved.flatMap(({ rule: { group, trigger } }) => (group == null ? [] : [{ group, trigger }]))
  for (const { group, trigger } of new Map(places.map((place) => [JSON.stringify(place), place])).values()) {
    const members = await rules.findMany({
      where: { group, trigger },
      select: { trigger: true, actions: true },
    })
    if (members.some((member) => findForbidden(grant, member) !== undefined))
      throw limited(
        `The embed session does not allow a place in the group ${group}: a rule in it is not allowed`,
      )
  }
}

interface Part {
  field: string
  kind: 'triggers' | 'actions' | 'credentials'
  name: string
}

function listParts({ trigger, actions }: GrantedDefinition): Part[] {
  const types = listNamedTypes({ trigger, actions }).map((named) => ({ ...named, kind: 'triggers' as const }))
  const used = (actions as Action[]).flatMap(({ type, config }, index): Part[] => [
    { field: `actions[${index}].type`, kind: 'actions', name: type },
    ...listCredentialUses(config, `actions[${index}]`).map(({ place, name }) => {
      return { field: place, kind: 'credentials' as const, name }
    }),
  ])
  return [...types, ...used]
}

function limited(message: string): Refused {
  return new Refused('embed_session_limited', message)
}
