import { type Administrator, changeWorkspace, DateTime, Refused } from '@automation/access'
import { Prisma, type WorkspaceTransaction } from '@automation/database'
import { EventType, isEventType, isEventTypeName } from '@automation/engine'
import { Type } from 'typebox'
import { listOwnNames } from './own-names.js'

/** Of one workspace. Processes keep their names in memory. */
export const maxEventTypes = 500

export const OwnEventType = Type.Object(
  {
    name: EventType,
    description: Type.String({ maxLength: 2_000 }),
    createdAt: DateTime,
  },
  { title: 'OwnEventType' },
)
export type OwnEventType = Type.Static<typeof OwnEventType>

export const EventTypeToCreate = Type.Object(
  { name: EventType, description: Type.Optional(OwnEventType.properties.description) },
  {
    title: 'EventTypeToCreate',
    additionalProperties: false,
    examples: [{ name: 'PAYMENT_FAILED', description: 'A card was declined.' }],
  },
)

export const EventTypeToUpdate = Type.Object(
  { description: OwnEventType.properties.description },
  { title: 'EventTypeToUpdate', additionalProperties: false },
)

/** @throws Refused where the name is taken, also by the catalogue, or the workspace has 500 types */
export function createEventType(
  administrator: Administrator,
  { name, description = '' }: Type.Static<typeof EventTypeToCreate>,
): Promise<OwnEventType> {
  const { workspaceId } = administrator
  return changeWorkspace(administrator, async (transaction) => {
    const known = await transaction.ownEventType.findMany({ select: { name: true } })
    if (isEventType(name) || known.some((type) => type.name === name))
      throw new Refused('name_taken', 'An event type of this name exists')
    if (known.length >= maxEventTypes)
      throw new Refused('limit_reached', `A workspace may have ${maxEventTypes} custom event types`)
    const row = await transaction.ownEventType.create({ data: { workspaceId, name, description } })
    return {
      result: { name, description, createdAt: row.createdAt.toISOString() },
      entry: { action: 'event_type.created', subject: name, details: { description } },
    }
  })
}

/** The name stays: rules and events have it. @throws Refused where there is no such type of the workspace's own */
export function updateEventType(
  administrator: Administrator,
  name: string,
  { description }: Type.Static<typeof EventTypeToUpdate>,
): Promise<OwnEventType> {
  const { workspaceId } = administrator
  return changeWorkspace(administrator, async (transaction) => {
    if (isEventType(name))
      throw new Refused('event_type_of_catalogue', 'Event types of the catalogue cannot be changed')
    const where = { workspaceId_name: { workspaceId, name } }
    const found = isEventTypeName(name) ? await transaction.ownEventType.findUnique({ where }) : null
    if (found === null) throw new Refused('event_type_not_found', 'Event type not found')
    const result = { name, description, createdAt: found.createdAt.toISOString() }
    if (found.description === description) return { result, entry: undefined }
    await transaction.ownEventType.update({ where, data: { description } })
    return { result, entry: { action: 'event_type.updated', subject: name, details: { description } } }
  })
}

/** Events of the type stay. @throws Refused where there is no such type of the workspace's own, or a rule or a signing secret uses it */
export function deleteEventType(administrator: Administrator, name: string): Promise<void> {
  const { workspaceId } = administrator
  return changeWorkspace(administrator, async (transaction) => {
    if (isEventType(name))
      throw new Refused('event_type_of_catalogue', 'Event types of the catalogue cannot be deleted')
    // Postgres takes no text with a zero byte.
    const { count } = isEventTypeName(name)
      ? await transaction.ownEventType.deleteMany({ where: { name } })
      : { count: 0 }
    if (count === 0) throw new Refused('event_type_not_found', 'Event type not found')
    const [rule] = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
      SELECT id FROM rules
      WHERE workspace_id = ${workspaceId}::uuid AND (trigger = ${name} OR EXISTS (
        SELECT FROM json_array_elements(actions) AS action
        WHERE action ->> 'type' = 'EMIT_EVENT' AND action -> 'config' ->> 'eventType' = ${name}
          OR action ->> 'type' = 'WAIT' AND action -> 'config' -> 'for' ->> 'eventType' = ${name}))
      LIMIT 1`)
    if (rule !== undefined) throw new Refused('event_type_in_use', `A rule uses this event type: ${rule.id}`)
    const [secret] = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
      SELECT id FROM signing_secrets
      WHERE workspace_id = ${workspaceId}::uuid AND revoked_at IS NULL AND (retires_at IS NULL OR retires_at > now())
        AND EXISTS (SELECT FROM json_each_text(settings -> 'types') AS types WHERE types.value = ${name})
      LIMIT 1`)
    if (secret !== undefined)
      throw new Refused('event_type_in_use', `A signing secret makes events of this type: ${secret.id}`)
    return { result: undefined, entry: { action: 'event_type.deleted', subject: name } }
  })
}

/** Of rules about to be saved. It needs the lock of the workspace: a type may have been deleted since the rule was checked. */
export async function refuseUnknownTypes(
  { ownEventType }: Pick<WorkspaceTransaction, 'ownEventType'>,
  rules: { trigger: string; actions: unknown }[],
): Promise<void> {
  const names = new Set(rules.flatMap(listOwnNames).map(({ name }) => name))
  if (names.size === 0) return
  const found = await ownEventType.count({ where: { name: { in: [...names] } } })
  if (found < names.size) throw new Refused('changed_meanwhile', 'The event type was deleted in the meantime')
}
