import { type Batch, collectEvent, compileCollect } from './collect.js'
import type { CompiledPerKey } from './compile-key.js'

/** Events that a rule takes together. */
export interface ListedBatch<Event> {
  readonly key: string
  /** In the order of acceptance. */
  readonly events: readonly [Event, ...Event[]]
  /** When it begins (epoch ms). */
  readonly endsAt: number
}

/**
 * The batches that these events alone would make, those that end last at first.
 *
 * @param perKey with `collect`
 * @param events that the rule takes, in the order of acceptance
 */
export function listBatches<Event extends { readonly at: number; readonly data: object }>(
  { collect: part = {}, render }: Pick<CompiledPerKey, 'collect' | 'render'>,
  events: readonly Event[],
): ListedBatch<Event>[] {
  const collect = compileCollect(part)
  const batchesByKey = new Map<string, Map<Batch, [Event, ...Event[]]>>()
  for (const [position, event] of events.entries()) {
    const { key } = render(event.data)
    const batches = batchesByKey.get(key) ?? new Map<Batch, [Event, ...Event[]]>()
    batchesByKey.set(key, batches)
    const own = { at: event.at, eventId: `${position}`, executionId: `${position}` }
    const known = [...batches.keys()].sort((one, other) => one.endsAt - other.endsAt)
    const { batch } = collectEvent(collect, known, own)
    const held = batches.get(batch)
    if (held) held.push(event)
    else batches.set(batch, [event])
  }
  return [...batchesByKey]
    .flatMap(([key, batches]) => [...batches].map(([{ endsAt }, held]) => ({ key, events: held, endsAt })))
    .sort((one, other) => other.endsAt - one.endsAt || other.events.length - one.events.length)
}
