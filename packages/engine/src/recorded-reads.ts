import { listConditionPaths, listRootPaths } from './condition-paths.js'
import { listConfigUses } from './config-uses.js'
import { type Declared, findRoot, findSources } from './recorded.js'
import type { Action, Condition } from './rule.js'

/** What an action reads of the actions before it. */
export interface RecordedReads {
  readonly readsRecorded: boolean
  /** The earlier actions that its `when` reads. */
  readonly whenSources: readonly number[]
}

const none: RecordedReads = { readsRecorded: false, whenSources: [] }

export function findRecordedReads(action: Action, index: number, declared: Declared): RecordedReads {
  if (declared.actions.size + declared.captured.size === 0) return none
  const { when, config } = action
  const ofWhen = when === undefined ? [] : listConditionPaths(when, '').map(({ path }) => path)
  const ofConfig = listConfigUses(config, '').flatMap(({ reads }) => reads)
  const where = 'where' in config ? (config.where as Condition[]) : []
  const ofWhere = where.flatMap((condition) => listRootPaths(condition, '').map(({ path }) => path))
  return {
    readsRecorded: [...ofWhen, ...ofConfig, ...ofWhere].some((path) => findRoot(declared, path)),
    whenSources: [...new Set(ofWhen.flatMap((path) => findSources(declared, path, index)))],
  }
}
