import { type Fault, findScheduleFaults, type PerKey, scheduleType } from '@automation/engine'

/** Of a request, of an item in a file, or of a stored rule. */
interface Wished {
  trigger?: unknown
  schedule?: unknown
  group?: unknown
  perKey?: unknown
}

/** A rule that gets another trigger has no schedule any more. */
export function settleSchedule<Fields extends { trigger?: string; schedule?: unknown }>(
  fields: Fields,
): Fields {
  const isLeft =
    fields.trigger !== undefined && fields.trigger !== scheduleType && fields.schedule === undefined
  return isLeft ? { ...fields, schedule: null } : fields
}

/** The faults of a whole definition: what stands together with a schedule, or does not. Those of the schedule itself are the engine's. */
export function findTriggerFaults({ trigger, schedule = null, group = null, perKey }: Wished): Fault[] {
  if (trigger !== scheduleType)
    return schedule === null
      ? []
      : [{ field: 'schedule', message: `Must be omitted unless the trigger is ${scheduleType}` }]
  const faults: Fault[] =
    schedule === null
      ? [{ field: 'schedule', message: `Required with the trigger ${scheduleType}` }]
      : findScheduleFaults(schedule)
  // A tick is for one rule.
  const message = `Must be omitted with the trigger ${scheduleType}`
  if (group !== null) faults.push({ field: 'group', message })
  // Ticks come as the schedule says: none completes a count of others, or waits for them.
  const limits = (perKey ?? {}) as PerKey
  for (const part of ['atLeast', 'collect'] as const)
    if (limits[part] !== undefined) faults.push({ field: `perKey.${part}`, message })
  return faults
}
