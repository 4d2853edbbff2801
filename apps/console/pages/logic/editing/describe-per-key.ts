import type { Rule } from '@automation/client'

export type PerKey = NonNullable<Rule['perKey']>

/** `at most 1 execution per 7d for each {{lead.id}}`. A part that has no words yet is named. */
export function describePerKey({ key, atLeast, atMost, whileRunning, ...others }: PerKey): string {
  const parts = [
    atLeast && `only once there are ${atLeast.events} events within ${atLeast.within}`,
    atMost && `at most ${atMost.runs} ${atMost.runs === 1 ? 'execution' : 'executions'} per ${atMost.per}`,
    whileRunning && whileWords[whileRunning],
    ...Object.keys(others),
  ].filter((part) => part !== undefined)
  return `${parts.join(', ')}${key === undefined ? '' : ` for each ${key}`}`.trim()
}

const whileWords: Readonly<Record<string, string>> = {
  skip: 'none while another one is in progress',
  replace: 'a newer one replaces that in progress',
  queue: 'one after another',
}
