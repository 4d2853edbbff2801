import type { ActionResult } from '@automation/client'

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/**
 * When a task is due that an action has created: it was created once the actions before it were over. undefined: it has no date.
 *
 * @param before the results of the actions before it
 */
export function findDue(
  config: unknown,
  before: readonly ActionResult[],
  startedAt: string | null,
): string | undefined {
  const { dueIn } = (config ?? {}) as { dueIn?: unknown }
  const [, count, unit = ''] = /^(\d+)([smhdw])$/.exec(typeof dueIn === 'string' ? dueIn.trim() : '') ?? []
  if (count === undefined || startedAt === null) return undefined
  const ends = before.flatMap(({ until, attempts = [] }) => [until, ...attempts.map((one) => one.finishedAt)])
  const times = [startedAt, ...ends].flatMap((at) => (at === undefined ? [] : [Date.parse(at)]))
  return new Date(Math.max(...times) + Number(count) * (unitMs[unit] ?? 0)).toISOString()
}
