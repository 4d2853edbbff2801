import type { Rule } from '@automation/client'
import { scheduleType } from '@automation/engine'
import type { Evaluation } from '../evaluate-definition.js'
import { nameType } from './action-words.js'

/** What is true once a rule is saved: `On. 19 of the last 100 events would have run it.` */
export function describeSaved(
  {
    mode,
    isActive,
    trigger,
    version,
    nextRunAt,
    perKey,
  }: Pick<Rule, 'mode' | 'isActive' | 'trigger' | 'version'> & Partial<Pick<Rule, 'nextRunAt' | 'perKey'>>,
  { verdicts }: Pick<Evaluation, 'verdicts'>,
  writeTime: (iso: string) => string,
): string {
  const state = mode === 'shadow' ? 'In shadow mode: it does nothing' : isActive ? 'On' : 'Off'
  const events = verdicts.filter(({ sample }) => sample.id !== 'example')
  const running = events.filter(({ matches, rival }) => matches && rival === undefined).length
  const found =
    events.length === 0
      ? `There is no event “${nameType(trigger)}” yet.`
      : `${countOf(running, events.length)} have run it${perKey ? ', apart from its limit' : ''}.`
  const isScheduled = trigger === scheduleType
  const next = nextRunAt ? `It runs next ${writeTime(nextRunAt)}.` : ''
  return `Saved as v${version}. ${state}. ${isScheduled ? next : found}`.trimEnd()
}

function countOf(running: number, events: number): string {
  return events === 1
    ? `The last event would${running === 1 ? '' : ' not'}`
    : `${running} of the last ${events} events would`
}
