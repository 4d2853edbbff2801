import type { Ledger } from '@automation/client'

type Kind = Ledger['faults'][number]['kind']

/** What does not add up, what repairs it, and what its ids are. */
interface Inconsistency {
  text: string
  repair: string
  of: 'event' | 'execution' | 'rule' | 'webhook' | 'task'
}

const report = 'Keep the ids and report a bug.'
const replay = 'Find the cause, then replay the event.'
const kinds: Record<Kind, Inconsistency> = {
  receipt_without_event: {
    text: 'An event of an accepted webhook is missing',
    repair: replay,
    of: 'webhook',
  },
  quarantined_not_done: { text: 'An event is quarantined, but not done', repair: report, of: 'event' },
  event_without_cause: {
    text: 'The execution that emitted an event is missing',
    repair: report,
    of: 'event',
  },
  execution_without_event: { text: 'The event of an execution is missing', repair: report, of: 'execution' },
  execution_too_early: {
    text: 'An execution exists, but its event is not done, or is quarantined',
    repair: report,
    of: 'execution',
  },
  execution_twice: { text: 'A rule has two executions for one event', repair: report, of: 'execution' },
  wait_without_key: {
    text: 'An execution waits for an event that would not wake it, or would be woken and waits for none',
    repair: 'The runbook LedgerImbalance in docs/operate/runbook.md says how to return it to the workers.',
    of: 'execution',
  },
  execution_adrift: {
    text: 'An execution is neither finished nor waiting nor in progress',
    repair: 'The runbook LedgerImbalance in docs/operate/runbook.md says how to return it to the workers.',
    of: 'execution',
  },
  claim_without_execution: {
    text: 'An event counts for a limit of a rule, but its execution is missing or suppressed',
    repair: report,
    of: 'execution',
  },
  action_left_open: {
    text: 'An execution has succeeded, but one of its actions has not ended',
    repair: report,
    of: 'execution',
  },
  task_missing: { text: 'The task that an action created is missing', repair: replay, of: 'execution' },
  task_without_execution: { text: 'The execution of a task is missing', repair: report, of: 'task' },
  emitted_event_missing: {
    text: 'The event that an action emitted is missing',
    repair: report,
    of: 'execution',
  },
  counter_behind: {
    text: 'A rule counts fewer successes or failures than it has executions',
    repair: report,
    of: 'rule',
  },
  tick_lost: {
    text: 'Between two ticks of a schedule more or fewer were due than the second one says',
    repair: report,
    of: 'event',
  },
}

export function describeInconsistency(kind: Kind): Inconsistency {
  return kinds[kind]
}
