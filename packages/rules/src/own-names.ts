import {
  describeUnknownType,
  eventTypes,
  type Fault,
  findSimilar,
  isEventType,
  isEventTypeName,
  isReservedType,
  scheduleType,
} from '@automation/engine'

/** The event types that a rule names, and where: its trigger, and those that its actions emit or wait for. */
interface NamedType {
  field: string
  name: string
}

/** Lists the names of a rule's body that are none of the catalogue's. It takes any shape. */
export function listOwnNames(body: { trigger?: unknown; actions?: unknown }): NamedType[] {
  return listNamedTypes(body).filter((one) => !isKnown(one))
}

/** Lists all names of event types in a rule's body. It takes any shape. */
export function listNamedTypes({ trigger, actions }: { trigger?: unknown; actions?: unknown }): NamedType[] {
  const named: { field: string; name: unknown }[] = [{ field: 'trigger', name: trigger }]
  if (Array.isArray(actions))
    for (const [index, action] of actions.entries()) {
      if (action?.type === 'EMIT_EVENT')
        named.push({ field: `actions[${index}].config.eventType`, name: action.config?.eventType })
      if (action?.type === 'WAIT')
        named.push({ field: `actions[${index}].config.for.eventType`, name: action.config?.for?.eventType })
    }
  return named.filter((one): one is NamedType => typeof one.name === 'string')
}

/** A schedule triggers a rule, and no action makes an event of its type. */
function isKnown({ field, name }: NamedType): boolean {
  return isEventType(name) || (field === 'trigger' && name === scheduleType)
}

/** The types of a rule's body that may be a workspace's own, where the workspace is not known: not those that look like a misspelt one of the catalogue. */
export function assumeOwnTypes(body: { trigger?: unknown; actions?: unknown }): ReadonlySet<string> {
  const names = listOwnNames(body).map(({ name }) => name)
  return new Set(
    names.filter(
      (name) => isEventTypeName(name) && !isReservedType(name) && findSimilar(name, eventTypes) === undefined,
    ),
  )
}

/** Finding the nearest names takes time, and a body may have thousands of unknown ones. */
const maxExplained = 5

/** The faults of actions that emit or wait for an event whose type is none of the catalogue's, and none of these. Names of the wrong shape are a fault of its own. */
export function findEmitFaults(body: { actions?: unknown }, ownTypes: ReadonlySet<string>): Fault[] {
  return listOwnNames({ actions: body.actions })
    .filter(({ name }) => !ownTypes.has(name) && isEventTypeName(name))
    .map(({ field, name }, index) => ({
      field,
      message:
        index < maxExplained ? `Unknown event type. ${describeUnknownType(name)}` : 'Unknown event type',
    }))
}
