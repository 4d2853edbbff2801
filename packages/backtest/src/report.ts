import { Type } from 'typebox'

const Count = Type.Integer({ minimum: 0 })
const Time = Type.String({ format: 'date-time' })
const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

const MessageCount = Type.Object({ message: Type.String(), count: Count }, { title: 'MessageCount' })

export const ActionReport = Type.Object(
  {
    index: Count,
    type: Type.String(),
    done: Type.Integer({ description: 'How often it would have been done, calls assumed to succeed' }),
    skipped: Type.Integer({
      description: 'How often its `when` did not hold, or an earlier action would have failed',
    }),
    faulty: Type.Integer({ description: 'How often its rendered config would not have fitted the action' }),
    faults: Type.Array(MessageCount),
    warnings: Type.Array(MessageCount),
    targets: Type.Integer({
      description:
        'Number of distinct addresses, hosts, assignees or event types. Up to 2,048 it is exact; beyond it is estimated by the k minimum values, with a standard error of 2.2 %.',
    }),
    isTargetsEstimated: Type.Boolean(),
    mostToOne: Type.Integer({
      description:
        'How often one target is reached at most. Where targets are estimated: at least this often.',
    }),
    busiestMinute: nullable(
      Type.Object(
        {
          at: Time,
          count: Count,
          isAtLeast: Type.Boolean({
            description: 'true: moments were too far from their order to count each minute',
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
    same: Type.Integer({ description: 'What both would do, to the same targets' }),
    added: Type.Integer({ description: 'What the draft alone would do' }),
    removed: Type.Integer({ description: 'What the active version alone would do' }),
    targets: Type.Integer({
      description: 'Number of distinct targets of those that are added, counted as those of an action',
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
    scanned: Type.Integer({ description: 'Events passed, of other types too' }),
    considered: Type.Integer({ description: 'Events of the trigger that could reach the rule' }),
    from: Time,
    to: Time,
    isComplete: Type.Boolean({ description: 'false: the figures are those of the events passed so far' }),
    historyFrom: nullable(
      Type.String({ format: 'date-time', description: 'Older events were removed by retention' }),
    ),
    active: nullable(
      Type.Object(
        {
          version: Type.Integer({ description: 'The version of the rule when the backtest was created' }),
          matched: Count,
          notJudged: Type.Integer({
            description:
              'Events for which the conditions need more work than a rule may cost, or than the rules before it leave',
          }),
        },
        { title: 'ActiveMatches' },
      ),
    ),
    draft: nullable(Type.Object({ matched: Count, notJudged: Count }, { title: 'DraftMatches' })),
    difference: nullable(
      Type.Object(
        {
          same: Type.Integer({ description: 'Events that match both' }),
          added: Type.Integer({ description: 'Events that match the draft alone' }),
          removed: Type.Integer({ description: 'Events that match the active version alone' }),
        },
        { title: 'Difference' },
      ),
    ),
    actionDifference: nullable(
      Type.Array(ActionDifferenceReport, {
        description:
          'What the draft would do beyond the active version, for each type of action; null if nothing is compared',
      }),
    ),
    bucketMs: Type.Integer({ description: 'Width of a bucket of overTime' }),
    overTime: Type.Array(
      Type.Object({ at: Time, active: Count, draft: Count }, { title: 'MatchesOverTime' }),
      { maxItems: 200 },
    ),
    actions: Type.Array(ActionReport, {
      description: 'Of the draft, or of the active version if there is no draft. So are clauses and fields.',
    }),
    clauses: Type.Array(
      Type.Object(
        {
          path: Type.String(),
          held: Count,
          aloneFailed: Type.Integer({ description: 'Events that only this clause kept from matching' }),
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
      { title: 'BacktestExamples', description: 'The newest events of each kind, the newest first' },
    ),
    notKnown: Type.Array(Type.String()),
    notes: Type.Array(Type.String()),
  },
  { title: 'BacktestReport' },
)
export type BacktestReport = Type.Static<typeof BacktestReport>
