import { Type } from 'typebox'
import { expiredDecision, type MadeDecision } from './decision.js'
import { type ActionResult, isOpen } from './outcome.js'

const GivenOutcome = Type.Object(
  {
    outcome: Type.Optional(Type.Enum(['success', 'failed', 'unknown'], { description: 'Default: success' })),
    status: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 599, description: 'HTTP status. Default of a success: 200' }),
    ),
  },
  { additionalProperties: false, title: 'GivenOutcome' },
)

/** What calls are assumed to record where none is made: in a dry run, and in tests of rules. */
export const givenFields = {
  captured: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'What responses are assumed to have, by the names in `capture`',
    }),
  ),
  actions: Type.Optional(
    Type.Record(Type.String(), GivenOutcome, {
      description: 'How calls are assumed to end, by the names of their actions',
    }),
  ),
}

const Given = Type.Object(givenFields)
export type Given = Type.Static<typeof Given>

/** What is assumed of one branch of a rule. */
export interface Assumed extends Given {
  /** What a person decides at once. Without it, nobody decides in time. */
  decision?: MadeDecision | undefined
}

interface Planned {
  readonly of: {
    readonly type: string
    readonly name: string | undefined
    readonly captures: readonly string[]
    readonly waitFor?: { readonly isDecision: boolean }
  }
  readonly skipped?: string
  readonly fault?: string
}

/** What later actions read of an action: its result, or what it would have. A call without a given outcome succeeds. */
export function recordOrAssume(
  known: ActionResult | undefined,
  planned: Planned,
  given: Assumed | undefined,
): ActionResult {
  if (known !== undefined && !isOpen(known)) return known
  const { type: action } = planned.of
  if (planned.skipped !== undefined) return { action, status: 'skipped' }
  return planned.fault === undefined ? assume(planned.of, given) : { action, status: 'failed' }
}

/** The result of a call that is not made, or of a WAIT that time ends. */
export function assume(
  { type: action, name, captures, waitFor }: Planned['of'],
  given: Assumed = {},
): ActionResult {
  if (waitFor?.isDecision && given.decision !== undefined)
    return { action, status: 'success', ended: 'decision', decision: given.decision }
  if (waitFor !== undefined)
    return {
      action,
      status: 'success',
      ended: 'time',
      ...(waitFor.isDecision && { decision: expiredDecision }),
    }
  const { outcome: status = 'success', status: code } = findOwn(given.actions, name) ?? {}
  const isAnswered = name !== undefined && action === 'SEND_WEBHOOK' && status === 'success'
  const statusCode = code ?? (isAnswered ? 200 : undefined)
  const captured = captures.flatMap((capture) => {
    const value = findOwn(given.captured, capture)
    return value === undefined ? [] : [[capture, value] as const]
  })
  return {
    action,
    status,
    ...(status !== 'success' && { error: `Assumed to be ${status}` }),
    ...(statusCode !== undefined && { output: { statusCode } }),
    ...(captured.length > 0 && status !== 'unknown' && { captured: Object.fromEntries(captured) }),
  }
}

function findOwn<Value>(values: Readonly<Record<string, Value>> = {}, name = ''): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
