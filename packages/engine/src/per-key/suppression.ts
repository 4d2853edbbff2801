import { type Static, type TProperties, Type } from 'typebox'

const byExecution = { executionId: Type.String({ format: 'uuid' }) }

/** Why a rule that matched has no effects: what its `perKey` decided when the event was recorded. */
export const Suppression = Type.Union(
  [
    suppressionOf(
      'at_most',
      'AtMostSuppression',
      {
        until: Type.String({
          format: 'date-time',
          description: 'From then on an event of the key is granted',
        }),
        ...byExecution,
      },
      'The key had as many executions as it may have. executionId: the one whose window ends at `until`.',
    ),
    suppressionOf(
      'at_least',
      'AtLeastSuppression',
      { count: Type.Integer(), events: Type.Integer() },
      'So far `count` of the `events` matching events that an execution takes.',
    ),
    suppressionOf(
      'while_running',
      'WhileRunningSuppression',
      byExecution,
      'Another execution of the key was in progress or waited.',
    ),
    suppressionOf('queue_full', 'QueueFullSuppression', {}, '1,000 executions of the key waited.'),
    suppressionOf(
      'collected',
      'CollectedSuppression',
      byExecution,
      'The event is in a batch, and the execution of the batch acts for it.',
    ),
  ],
  { title: 'Suppression' },
)
export type Suppression = Static<typeof Suppression>

/** What a dry run says of `perKey`: the key, and that it has not looked at what is remembered of it. */
export const KeyPreview = Type.Object(
  {
    key: Type.String({ description: 'The key of the event, or its beginning' }),
    limits: Type.Literal('not_evaluated'),
    warnings: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'KeyPreview', description: 'In a dry run of a rule with `perKey`: it reads no state' },
)
export type KeyPreview = Static<typeof KeyPreview>

function suppressionOf<Reason extends string, Fields extends TProperties>(
  reason: Reason,
  title: string,
  fields: Fields,
  description: string,
) {
  return Type.Object(
    {
      reason: Type.Literal(reason),
      key: Type.String({ description: 'The key of the event, or its beginning' }),
      ...fields,
    },
    { title, description },
  )
}
