import { compilePerKey, type ListedBatch, listBatches } from '@automation/engine'
import type { Sample, SampleVerdict } from './evaluate-definition.js'
import type { Definition } from './rule-definition.js'

export interface SampleBatch extends Omit<ListedBatch<unknown>, 'events'> {
  samples: readonly [Sample, ...Sample[]]
}

/** The batches of the samples that match, as a worker makes them; undefined where the rule does not collect, or its limit has a fault. */
export function listSampleBatches(
  { perKey }: Definition,
  verdicts: readonly SampleVerdict[],
  now: number,
): SampleBatch[] | undefined {
  if (!perKey?.collect) return undefined
  try {
    const events = verdicts
      .filter(({ matches, rival }) => matches && rival === undefined)
      .map(({ sample }) => ({ at: timeOf(sample, now), data: sample.data, sample }))
      .sort((one, other) => one.at - other.at || (one.sample.id < other.sample.id ? -1 : 1))
    return listBatches(compilePerKey(perKey as never), events).map(({ events, ...batch }) => ({
      ...batch,
      samples: events.map(({ sample }) => sample) as [Sample, ...Sample[]],
    }))
  } catch {
    return undefined
  }
}

function timeOf({ acceptedAt }: Sample, now: number): number {
  return acceptedAt === null ? now : Date.parse(acceptedAt)
}
