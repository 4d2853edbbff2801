import { type EmbedGrant, Refused } from '@automation/access'
import { type Action, listCredentialUses } from '@automation/engine'
import { listNamedTypes } from './own-names.js'

/** What the embed session of an author may; undefined: the author has none, and nothing of this applies. */
export type Grant = Pick<EmbedGrant, 'allow' | 'publish' | 'rule'> | undefined

/** What a grant looks at in a rule, whoever wrote it. */
export interface GrantedDefinition {
  trigger: string
  actions: unknown
  /** Of rules of which one runs. */
  group?: string | null
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
  if (grant?.allow === undefined) return
  const { triggers, actions, credentials } = grant.allow
  for (const { field, kind, name } of listParts(definition)) {
    const allowed: readonly string[] | undefined = { triggers, actions, credentials }[kind]
    if (allowed?.includes(name) === false)
      throw limited(`The embed session does not allow ${field}: ${name} is not in allow.${kind}`)
  }
}

/**
 * A session of one rule sees the events of its trigger alone, and leaves other rules as they are. So it cannot make the rule name other
 * types, which it would then see or send, unless `allow.triggers` has them; nor move it into a group, whose rules it would outrank.
 *
 * @param after of any shape: `group` may be left out
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
  if (after.group !== undefined && after.group !== (before.group ?? null))
    throw limited('The embed session is limited to one rule, and group is about others')
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
