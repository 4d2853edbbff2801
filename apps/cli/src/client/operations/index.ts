import type { Operation } from '../operation.js'
import { eventOperations } from './events.js'
import { ruleOperations } from './rules.js'
import { workspaceOperations } from './workspace.js'

/** A new operation of the API is a command by one entry of these tables. The rest of its help is in docs/openapi.json. */
export const operations: readonly Operation[] = [
  ...ruleOperations,
  ...eventOperations,
  ...workspaceOperations,
]
