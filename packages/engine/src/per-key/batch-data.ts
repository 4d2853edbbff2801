/** JSON of the events that actions can read; the others are only counted. */
export const maxCollectedBytes = 262_144

/** What the actions of a batch read: the data of its last event, and `collected`. */
export function withCollected(
  last: object,
  { events, count }: { events: readonly unknown[]; count: number },
): object {
  return { ...last, collected: { count, events, omitted: count - events.length } }
}

/** A batch as it is stored: the data of its last event, and of those that actions can read, in the order of acceptance. */
export interface StoredCollection {
  /** JSON. */
  readonly events: readonly string[]
  /** JSON. */
  readonly last: string
  readonly count: number
}

export function parseCollection({ events, last, count }: StoredCollection): object {
  return withCollected(JSON.parse(last), { events: events.map((text) => JSON.parse(text)), count })
}

/** What the actions of a batch of events read, in the order of acceptance: the first ones as far as they are short enough together. */
export function collectData(all: readonly [object, ...object[]]): object {
  let bytes = 0
  const events = all.filter((data) => {
    bytes += new TextEncoder().encode(JSON.stringify(data)).length
    return bytes <= maxCollectedBytes
  })
  return withCollected(all.at(-1) ?? all[0], { events, count: all.length })
}

/** Many rules may read an event, and it is written only to be measured. */
const alone = new WeakMap<object, object>()

/** Of an event that is in no batch: a batch of its own, as in a dry run, and where a person executes the rule. */
export function collectedAlone(data: object): object {
  const known = alone.get(data) ?? collectData([data])
  alone.set(data, known)
  return known
}
