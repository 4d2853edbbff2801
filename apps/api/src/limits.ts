import { type DatabaseLimits, databaseLimitsOf } from '@automation/database'
import { defaultWorkLimits, type WorkLimits } from '@automation/engine'
import type { Config } from './config.js'
import { type EvaluatorLimits, evaluatorLimits } from './evaluation/evaluator.js'
import { bodiesInFlightOf } from './plugins/body-budget.js'
import { workspacesPerCreator } from './routes/developer/workspaces.js'

/** What requests, workspaces and users may take of an API. An operator sets none of it: each stands beside its reason. */
export interface ApiLimits {
  workLimits: WorkLimits
  database: DatabaseLimits
  evaluation: EvaluatorLimits
  bodiesInFlightBytes: number
  workspacesPerCreator: number
}

export function limitsOf({ databasePool, bodyLimitBytes }: Config): ApiLimits {
  return {
    workLimits: defaultWorkLimits,
    database: databaseLimitsOf(databasePool),
    evaluation: evaluatorLimits,
    bodiesInFlightBytes: bodiesInFlightOf(bodyLimitBytes),
    workspacesPerCreator,
  }
}
