import { nextTick } from '../../src/index.js'

/** All ticks of [from, to), by asking for the next one again and again. */
export function listTicks(cron: string, timezone: string, from: number, to: number): number[] {
  const ticks: number[] = []
  for (let at: number | null = from - 1; ; ) {
    at = nextTick({ cron, timezone }, at)
    if (at === null || at >= to) return ticks
    ticks.push(at)
  }
}
