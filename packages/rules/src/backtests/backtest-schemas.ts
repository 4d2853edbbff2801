import { DateTime, orNull } from '@automation/access'
import { BacktestReport } from '@automation/backtest'
import { Type } from 'typebox'
import { DraftToSave } from '../rule-schemas.js'

export const BacktestPace = Type.Enum(['gentle', 'full'], { title: 'BacktestPace' })
export type BacktestPace = Type.Static<typeof BacktestPace>

const BacktestStatus = Type.Enum(['waiting', 'running', 'done', 'failed', 'cancelled'], {
  title: 'BacktestStatus',
})

const { name: _, description: __, ...effective } = DraftToSave.properties
const ofRule = { description: 'Default: that of the rule, if one is named' }
const TestedRule = Type.Object(
  {
    ...effective,
    trigger: Type.String({ description: 'An event type of the workspace' }),
    group: Type.Optional({ ...effective.group, ...ofRule }),
    order: Type.Optional({ ...effective.order, ...ofRule }),
    perKey: Type.Optional({ ...effective.perKey, ...ofRule }),
  },
  { title: 'TestedRule', additionalProperties: false },
)

export const BacktestToCreate = Type.Object(
  {
    ruleId: Type.Optional(
      Type.String({ description: 'The current version of this rule is tested, active or not' }),
    ),
    definition: Type.Optional(TestedRule),
    from: Type.Optional(
      Type.String({
        description:
          'Start of the range, inclusive: an ISO 8601 date, or a time with a zone. Default: 7 days before its end',
      }),
    ),
    to: Type.Optional(Type.String({ description: 'End of the range, exclusive. Default: now' })),
    pace: Type.Optional({
      ...BacktestPace,
      description: 'gentle (default): about a fifth of a core. full: as fast as possible',
    } as typeof BacktestPace),
  },
  {
    title: 'BacktestToCreate',
    additionalProperties: false,
    examples: [
      {
        definition: {
          trigger: 'LEAD_CREATED',
          conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
          actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
        },
      },
    ],
  },
)
export type BacktestToCreate = Type.Static<typeof BacktestToCreate>

export const ListedBacktest = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    ruleId: orNull(Type.String({ format: 'uuid' })),
    status: BacktestStatus,
    pace: BacktestPace,
    from: DateTime,
    to: DateTime,
    progress: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Share of the time range that is done, from 0 to 1',
    }),
    error: orNull(Type.String({ description: 'Reason of the failure' })),
    createdAt: DateTime,
    createdBy: Type.String({ description: 'As in the audit log, such as user:<sub>' }),
    finishedAt: orNull(DateTime),
  },
  { title: 'ListedBacktest' },
)
export type ListedBacktest = Type.Static<typeof ListedBacktest>

export const StoredBacktest = Type.Object(
  {
    ...ListedBacktest.properties,
    report: Type.Union([BacktestReport, Type.Null()], {
      description: 'The report so far; null before the first slice',
    }),
  },
  { title: 'Backtest' },
)
export type StoredBacktest = Type.Static<typeof StoredBacktest>
