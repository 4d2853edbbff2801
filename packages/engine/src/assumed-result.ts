import { type ActionResult, isOpen } from './outcome.js'

/** What calls are assumed to record where none is made: in a dry run, and in tests of rules. */
export interface Given {
  readonly captured?: Readonly<Record<string, unknown>>
  /** By the names of actions. */
  readonly actions?: Readonly<Record<string, GivenOutcome>>
}

export interface GivenOutcome {
  readonly outcome?: 'success' | 'failed' | 'unknown'
  readonly status?: number
}

interface Planned {
  readonly of: {
    readonly type: string
    readonly name: string | undefined
    readonly captures: readonly string[]
  }
  readonly skipped?: string
  readonly fault?: string
}

/** What later actions read of an action: its result, or what it would have. A call without a given outcome succeeds. */
export function recordOrAssume(
  known: ActionResult | undefined,
  planned: Planned,
  given: Given | undefined,
): ActionResult {
  if (known !== undefined && !isOpen(known)) return known
  const { type: action } = planned.of
  if (planned.skipped !== undefined) return { action, status: 'skipped' }
  return planned.fault === undefined ? assume(planned.of, given) : { action, status: 'failed' }
}

/** The result of a call that is not made. */
export function assume({ type: action, name, captures }: Planned['of'], given: Given = {}): ActionResult {
  const { outcome: status = 'success', status: code } = findOwn(given.actions, name) ?? {}
  const statusCode = code ?? (action === 'SEND_WEBHOOK' && status === 'success' ? 200 : undefined)
  const captured = captures.flatMap((capture) => {
    const value = findOwn(given.captured, capture)
    return value === undefined ? [] : [[capture, value] as const]
  })
  return {
    action,
    status,
    ...(statusCode !== undefined && { output: { statusCode } }),
    ...(captured.length > 0 && status !== 'unknown' && { captured: Object.fromEntries(captured) }),
  }
}

function findOwn<Value>(values: Readonly<Record<string, Value>> = {}, name = ''): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
