import { ActionResult, KeyPreview, Trace } from '@automation/engine'
import { Type } from 'typebox'
import { DataWarnings } from '../responses.js'

export const ExecutionResult = Type.Object({
  success: Type.Boolean({ description: 'false if any action failed' }),
  conditionsPassed: Type.Boolean(),
  actionsExecuted: Type.Integer({ minimum: 0 }),
  dryRun: Type.Boolean(),
  results: Type.Array(ActionResult),
  error: Type.Optional(Type.String({ description: 'Why the conditions of the rule could not be evaluated' })),
})
export type ExecutionResult = Type.Static<typeof ExecutionResult>

/** The response to a dry run. */
export const ExplainedResult = Type.Object(
  {
    ...ExecutionResult.properties,
    perKey: Type.Optional(KeyPreview),
    trace: Type.Optional(Trace),
    warnings: DataWarnings,
  },
  { title: 'ExecutionResult' },
)
