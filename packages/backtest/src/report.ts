import { Type } from 'typebox'

const Count = Type.Integer({ minimum: 0 })
const Time = Type.String({ format: 'date-time' })
const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

const Ran = Type.Integer({ minimum: 0, description: 'Number of events for which it would have run' })
const Outranked = Type.Integer({
  minimum: 0,
  description: 'Number of events that it matched, while another rule of its group would have run',
})

const Suppressed = Type.Integer({
  minimum: 0,
  description: 'Number of events that it matched, and for which its `perKey` would have granted no execution',
})
const Replaced = Type.Integer({
  minimum: 0,
  description:
    'How many of the `matched` executions a later one of their key would have replaced, with `"whileRunning": "replace"`',
})

/** What a draft would take from another rule of its group, or leave to it. */
export const GroupMove = Type.Object(
  {
    ruleId: Type.String({ format: 'uuid' }),
    name: Type.String(),
    gained: Type.Integer({ minimum: 0, description: 'Events for which it would run with the draft only' }),
    lost: Type.Integer({ minimum: 0, description: 'Events for which it would no longer run with the draft' }),
  },
  { title: 'GroupMove' },
)
export type GroupMove = Type.Static<typeof GroupMove>

const MessageCount = Type.Object({ message: Type.String(), count: Count }, { title: 'MessageCount' })

export const ActionReport = Type.Object(
  {
    index: Count,
    type: Type.String(),
    done: Type.Integer({ description: 'Number of times it would have run, if every call succeeded' }),
    skipped: Type.Integer({
      description:
        'Number of times it would have been skipped: its `when` did not match, or an earlier action would have failed',
    }),
    faulty: Type.Integer({
      description:
        'Events for which the action would have failed validation after its placeholders were filled',
    }),
    notKnown: Type.Integer({
      description:
        'Events for which it is not known what the action would do: it reads the result of an earlier action, which no event has. It counts nowhere else.',
    }),
    faults: Type.Array(MessageCount),
    warnings: Type.Array(MessageCount),
    targets: Type.Integer({
      description:
        'Number of distinct addresses, hosts, assignees or event types. Exact up to 2,048, then an estimate with a standard error of 2.2 %.',
    }),
    isTargetsEstimated: Type.Boolean(),
    mostToOne: Type.Integer({
      description:
        'The most times that any single target would be reached. If `isTargetsEstimated` is true, this is a lower bound.',
    }),
    busiestMinute: nullable(
      Type.Object(
        {
          at: Time,
          count: Count,
          isAtLeast: Type.Boolean({
            description:
              'true if `count` is a lower bound, because the events were too far out of order to count exactly',
          }),
        },
        { title: 'BusiestMinute' },
      ),
    ),
  },
  { title: 'ActionReport' },
)
export type ActionReport = Type.Static<typeof ActionReport>

/** Of one type of action. */
export const ActionDifferenceReport = Type.Object(
  {
    type: Type.String(),
    same: Type.Integer({ description: 'Actions that both versions would run, for the same targets' }),
    added: Type.Integer({ description: 'Actions that only the draft would run' }),
    removed: Type.Integer({ description: 'Actions that only the active version would run' }),
    targets: Type.Integer({
      description: 'Number of distinct targets of the added actions',
    }),
    isTargetsEstimated: Type.Boolean(),
  },
  { title: 'ActionDifference' },
)
export type ActionDifferenceReport = Type.Static<typeof ActionDifferenceReport>

const EventIds = Type.Array(Type.String({ format: 'uuid' }), { maxItems: 20 })

/** What a rule would have done for the events of a range. `active` or `draft` is null where there was none to evaluate. */
export const BacktestReport = Type.Object(
  {
    scanned: Type.Integer({
      description: 'Number of events of the range that were read, including other types',
    }),
    considered: Type.Integer({
      description: 'Number of events of the trigger type that the rule was evaluated for',
    }),
    erased: Type.Optional(
      Type.Integer({
        description:
          'Number of events that were not evaluated, because a value of a person was erased from them. Absent if there are none.',
      }),
    ),
    from: Time,
    to: Time,
    isComplete: Type.Boolean({
      description: 'false while more events are to be read: the figures cover the events so far',
    }),
    historyFrom: nullable(
      Type.String({ format: 'date-time', description: 'Earlier events were removed by retention' }),
    ),
    active: nullable(
      Type.Object(
        {
          version: Type.Integer({ description: 'The version of the rule when the backtest was created' }),
          matched: Ran,
          outranked: Outranked,
          suppressed: Suppressed,
          replaced: Replaced,
          notJudged: Type.Integer({
            description:
              'Number of events that were skipped, because evaluating them exceeded an evaluation limit',
          }),
        },
        { title: 'ActiveMatches' },
      ),
    ),
    draft: nullable(
      Type.Object(
        { matched: Ran, outranked: Outranked, suppressed: Suppressed, replaced: Replaced, notJudged: Count },
        { title: 'DraftMatches' },
      ),
    ),
    difference: nullable(
      Type.Object(
        {
          same: Type.Integer({ description: 'Events for which both would run' }),
          added: Type.Integer({ description: 'Events for which only the draft would run' }),
          removed: Type.Integer({ description: 'Events for which only the active version would run' }),
        },
        { title: 'Difference' },
      ),
    ),
    actionDifference: nullable(
      Type.Array(ActionDifferenceReport, {
        description:
          'Differences between the draft and the active version, for each type of action. null if nothing is compared.',
      }),
    ),
    moves: Type.Array(GroupMove, {
      description:
        'Other rules of the group that would run for other events with the draft than with the active version, or than without a rule that is new or in shadow mode. At most 50.',
    }),
    bucketMs: Type.Integer({ description: 'Width of each bucket of `overTime`' }),
    overTime: Type.Array(
      Type.Object({ at: Time, active: Count, draft: Count }, { title: 'MatchesOverTime' }),
      { maxItems: 200 },
    ),
    actions: Type.Array(ActionReport, {
      description:
        'Of the draft, or of the active version if there is no draft. This also holds for `clauses` and `fields`.',
    }),
    clauses: Type.Array(
      Type.Object(
        {
          path: Type.String(),
          held: Count,
          aloneFailed: Type.Integer({ description: 'Events that matched but for this condition' }),
        },
        { title: 'ClauseCount' },
      ),
    ),
    fields: Type.Array(
      Type.Object(
        { path: Type.String(), present: Count, didYouMean: nullable(Type.String()) },
        { title: 'FieldCount' },
      ),
    ),
    examples: Type.Object(
      { added: EventIds, removed: EventIds, nearMisses: EventIds },
      { title: 'BacktestExamples', description: 'The newest events of each kind, newest first' },
    ),
    notKnown: Type.Array(Type.String()),
    notes: Type.Array(Type.String()),
  },
  { title: 'BacktestReport' },
)
export type BacktestReport = Type.Static<typeof BacktestReport>
