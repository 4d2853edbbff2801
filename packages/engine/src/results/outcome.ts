import { Type } from 'typebox'
import { type Quantifier, quantifiers } from '../operators/quantifiers.js'
import { MadeDecision } from './decision.js'

/** One attempt of a call to a destination outside. */
export const Attempt = Type.Object(
  {
    startedAt: Type.String({ format: 'date-time' }),
    finishedAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Absent while the call is in progress, and if its outcome is unknown',
      }),
    ),
    error: Type.Optional(Type.String()),
    output: Type.Optional(Type.Unknown()),
  },
  { title: 'Attempt' },
)
export type Attempt = Type.Static<typeof Attempt>

/** The result of one action so far. */
export const ActionResult = Type.Object(
  {
    action: Type.String({ description: 'Type of the action' }),
    status: Type.Enum(
      ['success', 'failed', 'skipped', 'simulated', 'scheduled', 'running', 'retrying', 'pending', 'unknown'],
      {
        description:
          'scheduled: a WAIT has not ended. running: a call is in progress. retrying: the next attempt is due at `until`. pending: not started. unknown: a worker crashed during the call, and `onUncertain` is stop.',
      },
    ),
    error: Type.Optional(Type.String({ description: 'Why the action failed' })),
    reason: Type.Optional(Type.String({ description: 'Why the action was skipped' })),
    config: Type.Optional(Type.Unknown({ description: 'In a dry run: the rendered config' })),
    output: Type.Optional(Type.Unknown()),
    captured: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'What `capture` of a SEND_WEBHOOK took from the last response, by its names',
      }),
    ),
    warnings: Type.Optional(Type.Array(Type.String())),
    to: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Of a call: the recipients of the email, those of cc and bcc included, or the host of the URL. The path of a URL may be a secret, and is left out',
      }),
    ),
    attempts: Type.Optional(
      Type.Array(Attempt, { description: 'The calls that were made, at most the last 20' }),
    ),
    failures: Type.Optional(
      Type.Integer({
        description: 'Number of failed attempts since the action started or was retried manually',
      }),
    ),
    emitted: Type.Optional(
      Type.Object(
        {
          events: Type.Integer({ description: 'Number of events that were emitted' }),
          done: Type.Integer({
            description: 'Those whose executions have all ended, and none failed. No rule may have matched.',
          }),
          failed: Type.Integer({ description: 'Those with a failed execution, or that were quarantined' }),
        },
        {
          title: 'EmittedEvents',
          description:
            'In a response about one execution: what became of the events of an EMIT_EVENT with forEach. The others are in progress, or were removed by retention.',
        },
      ),
    ),
    until: Type.Optional(
      Type.String({ format: 'date-time', description: 'The end of a WAIT, or the time of the next attempt' }),
    ),
    waitsFor: Type.Optional(
      Type.Object(
        { eventType: Type.String(), match: Type.Record(Type.String(), Type.Unknown()) },
        {
          title: 'AwaitedEvent',
          description:
            'Of a WAIT for an event: which one, with the values of `match`. For a decision the type is DECISION, without values',
        },
      ),
    ),
    ended: Type.Optional(
      Type.Enum(['event', 'decision', 'time'], {
        description: 'What ended a WAIT for an event or a decision',
      }),
    ),
    endedBy: Type.Optional(
      Type.Object(
        { eventId: Type.String({ format: 'uuid' }), acceptedAt: Type.String({ format: 'date-time' }) },
        { title: 'EndingEvent', description: 'The event that ended a WAIT' },
      ),
    ),
    waited: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Of the data of that event: the fields that later actions read as {{waited.field}}',
      }),
    ),
    decision: Type.Optional(MadeDecision),
  },
  { title: 'ActionResult' },
)
export type ActionResult = Type.Static<typeof ActionResult>

/** True for an action that is neither done nor given up. */
export function isOpen({ status }: ActionResult): boolean {
  return status === 'running' || status === 'retrying' || status === 'pending' || status === 'scheduled'
}

export interface ClauseTrace {
  field: string
  operator: string
  expected?: unknown
  /** Absent when the data has no such field. */
  actual?: unknown
  /** Of a clause between two fields: the value of the other one. Absent when the data has no such field. */
  other?: unknown
  verdict: boolean
  /** Why the clause was not evaluated. */
  warning?: string
  /** How far the number was from fulfilling the clause. */
  distance?: number
  /** The same of a time. */
  distanceMs?: number
  /** How the operator read the value, or why it could not. */
  note?: string
  /** The nearest path that the data has. */
  didYouMean?: string
}

/** Why a condition on a list held or not. */
export interface ListTrace {
  quantifier: Quantifier
  /** Path of the list. */
  list: string
  /** Of `count`. */
  operator?: string
  expected?: unknown
  /** How many items there are. Absent when there is no list. */
  items?: number
  /** How many items fulfil `that`. Absent when it would cost too much to count them. */
  held?: number
  /** Index of the item that decided, or else of the one that came nearest, and the conditions of `that` for it. */
  item?: number
  conditions?: ConditionTrace[]
  verdict: boolean
  warning?: string
  note?: string
  didYouMean?: string
}

// Written beside its schema because it is recursive, as Condition is.
export type ConditionTrace =
  | ClauseTrace
  | ListTrace
  | { group: 'all' | 'any' | 'not'; children: ConditionTrace[]; verdict: boolean }

const ConditionTraceRef = Type.Unsafe<ConditionTrace>({ $ref: 'ConditionTrace#' })

/** Why a condition held or not: a clause has `field`, a group has `group` and `children`, a list has `list` and `quantifier`. */
export const ConditionTrace = Type.Unsafe<ConditionTrace>({
  $id: 'ConditionTrace',
  type: 'object',
  required: ['verdict'],
  properties: {
    field: { type: 'string' },
    operator: { type: 'string' },
    expected: {},
    actual: {},
    other: {
      description: 'The value of the other field, if two fields are compared. Absent if there is none.',
    },
    list: { type: 'string', description: 'Of a condition on a list: the path of the list' },
    quantifier: { enum: [...quantifiers] },
    items: { type: 'integer', description: 'Number of items. Absent if there is no list.' },
    held: {
      type: 'integer',
      description:
        'Number of items that fulfil `that`. Absent if counting them would exceed the evaluation limit.',
    },
    item: {
      type: 'integer',
      description: 'Index of the item that decided, or else of the one that came nearest',
    },
    conditions: {
      type: 'array',
      items: ConditionTraceRef,
      description: 'The conditions of `that`, for this item',
    },
    group: { enum: ['all', 'any', 'not'] },
    children: { type: 'array', items: ConditionTraceRef },
    verdict: { type: 'boolean' },
    warning: { type: 'string', description: 'Why the condition was not evaluated' },
    distance: {
      type: 'number',
      description: 'How far the number was from matching. 0 if it was exactly at the limit.',
    },
    distanceMs: { type: 'number', description: 'How far the time was from matching, in milliseconds' },
    note: {
      type: 'string',
      description:
        'How a number was read as a time; or why the operator cannot read the value, which then counts as missing; or the part of the path at which a list or a scalar ends it',
    },
    didYouMean: {
      type: 'string',
      description:
        'Only in `why`: the data has no such field, but this one, which differs by at most two characters',
    },
  },
})

/** Why a rule would run or not, and which of its actions. */
export const Trace = Type.Object(
  {
    conditionsPassed: Type.Boolean(),
    conditions: Type.Array(ConditionTraceRef),
    actions: Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0 }),
        type: Type.String(),
        name: Type.Optional(Type.String({ description: 'Name of the action' })),
        when: Type.Optional(ConditionTraceRef),
        config: Type.Optional(
          Type.Unknown({
            description:
              'Only in the trace of an execution: the rendered config of the action. Absent if the action was skipped, or if its config has more than 65536 characters.',
          }),
        ),
      }),
    ),
  },
  { title: 'Trace' },
)
export type Trace = Type.Static<typeof Trace>
