import type { Fault } from '../fault.js'
import { isObject } from '../faults/faults.js'
import { type Declared, findReadFault, readDeclared } from '../results/recorded.js'
import { findCronFault } from '../schedule/cron.js'
import { findForeignSyntax } from '../templates/foreign-syntax.js'
import { compileTemplate, readsOf } from '../templates/template.js'
import { capitalize } from '../texts/capitalize.js'
import { cutText } from '../texts/cut-text.js'
import { findDurationFault } from '../times/duration.js'
import { describeNoZone, isZone } from '../times/zone-names.js'

const limits = ['atLeast', 'atMost', 'whileRunning', 'collect']

/**
 * Finds the faults of `perKey` that its schema cannot express. Takes any shape, and ignores faults that the schema reports.
 *
 * @param actions of the rule: what they record is no part of a key, which is asked for before they begin
 */
export function findPerKeyFaults({ perKey, actions }: { perKey?: unknown; actions?: unknown }): Fault[] {
  if (!isObject(perKey)) return []
  const found = [
    ...(limits.some((name) => perKey[name] !== undefined)
      ? []
      : [fault('', `must have at least one of ${limits.join(', ')}`)]),
    ...findKeyFaults(perKey.key, readDeclared(actions, perKey)),
    ...findWindowFault(perKey.atLeast, 'atLeast', 'within'),
    ...findWindowFault(perKey.atMost, 'atMost', 'per'),
    ...findCollectFaults(perKey),
  ]
  return found.map(({ field, message }) => ({ field: `perKey${field}`, message: capitalize(message) }))
}

function findKeyFaults(key: unknown, declared: Declared): Fault[] {
  if (typeof key !== 'string') return []
  const template = compileTemplate(key)
  if (typeof template === 'string') return [fault('.key', template)]
  if (template.placeholders === 0)
    return [fault('.key', 'must have a placeholder such as {{lead.id}}: omit it if all events share one key')]
  return (template.parts ?? []).flatMap((placeholder) => {
    const foreign = findForeignSyntax(placeholder.name)
    if (foreign !== undefined) return [fault('.key', foreign)]
    const path = readsOf(placeholder).find((read) => findReadFault(declared, read, -1) !== undefined)
    return path === undefined
      ? []
      : [fault('.key', `must not read ${cutText(path, 60)}: the key is known before the actions begin`)]
  })
}

function findWindowFault(part: unknown, name: string, field: string): Fault[] {
  const text = isObject(part) ? part[field] : undefined
  const message = typeof text === 'string' && text !== '' ? findDurationFault(text) : undefined
  return message === undefined ? [] : [fault(`.${name}.${field}`, message)]
}

/** Any other limit could refuse a batch, and with it events that it has. */
function findCollectFaults({ atLeast, atMost, whileRunning, collect }: Record<string, unknown>): Fault[] {
  if (!isObject(collect)) return []
  const { at } = collect
  const cron = isObject(at) && typeof at.cron === 'string' ? findCronFault(at.cron) : undefined
  const zone = isObject(at) && typeof at.timezone === 'string' ? at.timezone : undefined
  return [
    ...(atLeast === undefined
      ? []
      : [fault('.atLeast', 'must be omitted with collect: use when with collected.count')]),
    ...(atMost === undefined ? [] : [fault('.atMost', 'must be omitted with collect')]),
    ...(whileRunning === undefined || whileRunning === 'queue'
      ? []
      : [fault('.whileRunning', 'must be queue with collect, or omitted')]),
    ...((collect.for === undefined) === (at === undefined)
      ? [fault('.collect', 'must have for or at, and not both')]
      : []),
    ...findWindowFault(collect, 'collect', 'for'),
    ...findWindowFault(collect, 'collect', 'quiet'),
    ...(cron === undefined ? [] : [fault('.collect.at.cron', cron)]),
    ...(zone === undefined || isZone(zone) ? [] : [fault('.collect.at.timezone', describeNoZone(zone))]),
  ]
}

function fault(field: string, message: string): Fault {
  return { field, message }
}
