import { type CheckedRule, compilePath, listConfigUses, type PlacedUse, readPath } from '@automation/engine'
import { type FindSource, fromEvent } from './emission.js'
import type { Space } from './space.js'
import { keysOf, writeValue } from './write-value.js'

type Action = CheckedRule['actions'][number]

export function listActionPlaceholders(action: Action, place: string): PlacedUse[] {
  return listConfigUses(action.config, place)
}

/** To find a sample takes as long as so many units of work. */
export const unitsPerSample = 2

/**
 * Values with which the configs of the actions fit, by the path that a placeholder reads.
 *
 * @param find where the values of the event come from; a path that leads to none of the first event has no sample
 */
export function sampleValues(actions: readonly Action[], find: FindSource = fromEvent): Map<string, unknown> {
  const samples = new Map<string, unknown>()
  for (const action of actions) {
    for (const { keys, sample } of readsOf(action)) {
      const source = find(keys)
      if (source !== 'made' && 'keys' in source) addSample(samples, source.keys.join('.'), sample)
    }
  }
  return samples
}

/** What a placeholder reads, and a value that fits there. */
interface Read {
  readonly keys: readonly string[]
  readonly sample: unknown
}

const known = new WeakMap<Action, readonly Read[]>()

/** Each once, since a rule may have thousands of placeholders, and is asked about with many others. */
function readsOf(action: Action): readonly Read[] {
  let reads = known.get(action)
  if (reads === undefined) {
    const found = new Map<string, Read>()
    for (const { path, reads, field, place, isWhole } of listActionPlaceholders(action, '')) {
      // What an item has is not read of the event.
      if (!reads.includes(path)) continue
      const sample = isWhole ? sampleOf(field, place) : anyText
      const key = JSON.stringify([path, sample])
      if (!found.has(key)) found.set(key, { keys: keysOf(path), sample })
    }
    reads = [...found.values()]
    known.set(action, reads)
  }
  return reads
}

/** A value that an action needs goes before a text that fits where anything does. */
export function addSample(samples: Map<string, unknown>, key: string, sample: unknown): void {
  if (!samples.has(key) || sample !== anyText) samples.set(key, sample)
}

const anyText = 'x'

function sampleOf(field: string, place: string): unknown {
  if (/^(?:to|cc|bcc|replyTo)$/.test(field)) return 'ada@example.com'
  if (field === 'url') return 'https://example.com/'
  if (field === 'duration' || field === 'dueIn') return '1h'
  if (field === 'until') return '2027-01-01'
  if (field === 'offset') return '1h'
  if (field === 'forEach') return [{}]
  return place === '.config.data' ? {} : anyText
}

/** Adds values that placeholders read, where the data says nothing about their paths. */
export function fillSamples(
  data: Record<string, unknown>,
  samples: ReadonlyMap<string, unknown>,
  space: Space,
  chosen: ReadonlyMap<number, number>,
): void {
  const taken = [...chosen.keys()].map((variable) => space.variables[variable]?.keys.join('.') ?? '')
  // A path with others below it is an object, and its own sample is not used.
  const deepestFirst = [...samples].sort(([one], [other]) => other.length - one.length)
  for (const [path, sample] of deepestFirst) {
    const isTaken = taken.some(
      (one) => one === path || path.startsWith(`${one}.`) || one.startsWith(`${path}.`),
    )
    if (!isTaken && readPath(compilePath(path), data) === undefined) writeValue(data, keysOf(path), sample)
  }
}
