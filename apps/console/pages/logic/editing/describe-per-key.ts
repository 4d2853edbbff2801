import type { Rule } from '@automation/client'

export type PerKey = NonNullable<Rule['perKey']>

/** `at most 1 execution per 7d for each {{lead.id}}`. A part that has no words yet is named. */
export function describePerKey({ key, atLeast, atMost, whileRunning, collect, ...others }: PerKey): string {
  const parts = [
    atLeast && `only once there are ${atLeast.events} events within ${atLeast.within}`,
    atMost && `at most ${atMost.runs} ${atMost.runs === 1 ? 'execution' : 'executions'} per ${atMost.per}`,
    whileRunning && whileWords[whileRunning],
    collect && describeCollect(collect),
    ...Object.keys(others),
  ].filter((part) => part !== undefined)
  return `${parts.join(', ')}${key === undefined ? '' : ` for each ${key}`}`.trim()
}

function describeCollect({ for: length, at, quiet, max }: NonNullable<PerKey['collect']>): string {
  const ends = [
    length !== undefined && `within ${length}`,
    at !== undefined && `until ${at.cron}`,
    quiet !== undefined && `until none comes for ${quiet}`,
    max !== undefined && `at most ${max}`,
  ].filter(Boolean)
  return ['one execution for the events that come', ends.join(', ')].join(' ').trim()
}

const whileWords: Readonly<Record<string, string>> = {
  skip: 'none while another one is in progress',
  replace: 'a newer one replaces that in progress',
  queue: 'one after another',
}
