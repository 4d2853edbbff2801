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

/** What follows one choice of a decision. */
const DecisionBranch = Type.Object(
  {
    choice: Type.String({ description: 'One of the options, or expired if nobody decides in time' }),
    results: Type.Array(ActionResult, { description: 'Of the actions after the WAIT' }),
  },
  { title: 'DecisionBranch' },
)

/** The response to a dry run. */
export const ExplainedResult = Type.Object(
  {
    ...ExecutionResult.properties,
    branches: Type.Optional(
      Type.Array(DecisionBranch, {
        description:
          'Of a rule that waits for a decision: what would follow each choice. `results` goes on as if nobody decided in time.',
      }),
    ),
    branchesLeftOut: Type.Optional(
      Type.Integer({
        description:
          'Number of choices without a branch, because the response or its evaluation is too large',
      }),
    ),
    perKey: Type.Optional(KeyPreview),
    trace: Type.Optional(Trace),
    warnings: DataWarnings,
  },
  { title: 'ExecutionResult' },
)
