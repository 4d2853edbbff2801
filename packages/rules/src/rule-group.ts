import type { Fault, Grouped } from '@automation/engine'

/** Of a request, of an item in a file, or of a stored rule. */
interface Wished {
  group?: unknown
  order?: unknown
}

/** A rule that leaves its group has no place in it. */
export function settleGroup<Fields extends Partial<Grouped>>(fields: Fields): Fields {
  return fields.group === null && fields.order === undefined ? { ...fields, order: null } : fields
}

/** The faults of a whole definition: its two fields stand together. */
export function findGroupFaults({ group = null, order = null }: Wished): Fault[] {
  if (group !== null && order === null) return [{ field: 'order', message: 'Required with a group' }]
  return group === null && order !== null
    ? [{ field: 'order', message: 'Must be omitted without a group' }]
    : []
}
