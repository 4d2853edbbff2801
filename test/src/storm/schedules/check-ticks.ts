import type { ScheduledRule } from './rules.js'

/** A tick as it is stored. */
export interface Tick {
  id: string
  ruleId: string
  data: { scheduledAt: string; missed: number }
  /** Epoch ms. */
  acceptedAt: number
  executions: number
  tasks: number
}

/**
 * Holds ticks against what a clock says: the due times of a rule are the multiples of its period. It counts by itself, and knows nothing of the code
 * that makes ticks.
 *
 * @param ticks in the order of their rules and times
 * @returns one sentence for each promise that was broken
 */
export function checkTicks(rules: readonly ScheduledRule[], ticks: readonly Tick[]): string[] {
  return rules.flatMap((rule) =>
    checkRule(
      rule,
      ticks.filter(({ ruleId }) => ruleId === rule.id),
    ),
  )
}

function checkRule(rule: ScheduledRule, ticks: readonly Tick[]): string[] {
  const violations: string[] = []
  const say = (text: string) => violations.push(`rule ${rule.id}, every ${rule.periodMs} ms: ${text}`)
  if (ticks.length === 0) say('it has no tick')
  let previous: number | undefined
  for (const { id, data, acceptedAt, executions, tasks } of ticks) {
    const at = Date.parse(data.scheduledAt)
    if (at % rule.periodMs !== 0) say(`${data.scheduledAt} is not due`)
    if (acceptedAt < at) say(`${data.scheduledAt} was made ${at - acceptedAt} ms too early`)
    if (at <= rule.createdAt) say(`${data.scheduledAt} was due before the rule was created`)
    if (previous !== undefined && at <= previous) say(`${data.scheduledAt} has two events`)
    // Of a rule that is switched on and off, the times between are not due.
    if (!rule.isSwitched) {
      const due = countDue(previous ?? rule.createdAt, at, rule.periodMs)
      if (data.missed !== due - 1) say(`${data.scheduledAt} says ${data.missed} missed, and ${due - 1} were`)
    }
    for (const [from, to] of rule.pauses)
      if (from < at && at < to) say(`${data.scheduledAt} was made while the rule was off`)
    const expected = rule.isSwitched ? executions : 1
    if (executions !== expected || tasks !== executions)
      say(`event ${id} has ${executions} executions and ${tasks} tasks`)
    previous = at
  }
  return violations
}

/** The multiples in (after, until]. */
function countDue(after: number, until: number, periodMs: number): number {
  return Math.floor(until / periodMs) - Math.floor(after / periodMs)
}
