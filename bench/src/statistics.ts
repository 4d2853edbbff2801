/** The waits (ms) of callers. */
export interface Waits {
  count: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  p999Ms: number
  maxMs: number
}

export interface Interval {
  low: number
  high: number
}

/** Five rounds, from the lowest to the highest, have 93.75 %. */
const confidence = 0.93

export function waitsOf(waitsMs: ArrayLike<number>): Waits {
  const sorted = Float64Array.from(waitsMs).sort()
  return {
    count: sorted.length,
    p50Ms: quantile(sorted, 0.5),
    p95Ms: quantile(sorted, 0.95),
    p99Ms: quantile(sorted, 0.99),
    p999Ms: quantile(sorted, 0.999),
    maxMs: quantile(sorted, 1),
  }
}

/** The smallest value that is at least as large as a share of all values; NaN without values. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export function median(values: number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export function rangeOf(values: number[]): Interval {
  return { low: Math.min(...values), high: Math.max(...values) }
}

/**
 * The narrowest interval between two of the values that contains the median of their distribution with a probability of at
 * least 93 %, whatever that distribution is: each value lies below its median with probability 1/2.
 *
 * @returns undefined for fewer than five values
 */
export function intervalOfMedian(values: number[]): Interval | undefined {
  const sorted = values.toSorted((left, right) => left - right)
  const count = sorted.length
  /** The probability that as many values as `leftOut`, or fewer, are on one side of the median. */
  let tail = 2 ** -count
  if (1 - 2 * tail < confidence) return undefined
  let leftOut = 0
  for (let ways = count; ; leftOut++) {
    tail += ways * 2 ** -count
    if (1 - 2 * tail < confidence) break
    ways = (ways * (count - leftOut - 1)) / (leftOut + 2)
  }
  return { low: sorted[leftOut] as number, high: sorted[count - 1 - leftOut] as number }
}

/** The columns of waits. */
export function describeWaits({ p50Ms, p95Ms, p99Ms, maxMs }: Waits, name: string): Record<string, number> {
  return {
    ...{ [`${name} p50 ms`]: p50Ms, [`${name} p95 ms`]: p95Ms },
    ...{ [`${name} p99 ms`]: p99Ms, [`${name} max ms`]: maxMs },
  }
}
