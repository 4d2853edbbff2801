import type { Ledger } from '@automation/client'

type Kind = Ledger['faults'][number]['kind']
type Noun = 'event' | 'execution' | 'rule' | 'webhook' | 'task'

const report = 'Keep the ids and report a bug.'
const replay = 'Find the cause, then replay the event.'
const runbook = 'The runbook LedgerImbalance in docs/operate/runbook.md says how to return it to the workers.'

/** What does not add up, what its ids are, and what repairs it. */
const kinds: Record<Kind, [text: string, of: Noun, repair: string]> = {
  receipt_without_event: ['An event of an accepted webhook is missing', 'webhook', replay],
  quarantined_not_done: ['An event is quarantined, but not done', 'event', report],
  event_without_cause: ['The execution that emitted an event is missing', 'event', report],
  execution_without_event: ['The event of an execution is missing', 'execution', report],
  execution_too_early: [
    'An execution exists, but its event is not done, or is quarantined',
    'execution',
    report,
  ],
  execution_twice: ['A rule has two executions for one event', 'execution', report],
  wait_without_key: [
    'An execution waits for an event that would not wake it, or would be woken and waits for none',
    'execution',
    runbook,
  ],
  execution_adrift: ['An execution is neither finished nor waiting nor in progress', 'execution', runbook],
  claim_without_execution: [
    'An event counts for a limit of a rule, but its execution is missing or suppressed',
    'execution',
    report,
  ],
  action_left_open: ['An execution has succeeded, but one of its actions has not ended', 'execution', report],
  task_missing: ['The task that an action created is missing', 'execution', replay],
  task_twice: ['An action has created two tasks', 'execution', report],
  task_without_execution: ['The execution of a task is missing', 'task', report],
  emitted_event_missing: ['The event that an action emitted is missing', 'execution', report],
  counter_behind: ['A rule counts fewer successes or failures than it has executions', 'rule', report],
  tick_lost: [
    'Between two ticks of a schedule more or fewer were due than the second one says',
    'event',
    report,
  ],
}

export function describeInconsistency(kind: Kind): { text: string; of: Noun; repair: string } {
  const [text, of, repair] = kinds[kind]
  return { text, of, repair }
}
