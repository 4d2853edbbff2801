import { listConditionPaths, listRootPaths } from '../conditions/condition-paths.js'
import { listConfigUses } from '../configs/config-uses.js'
import type { LinksToMake } from '../results/decision-links.js'
import { type Declared, declaresAny, findRoot, findSources, isLinkPath } from '../results/recorded.js'
import type { Action, Condition } from '../rule.js'
import { parsePath } from '../values/path.js'

/** What an action reads of the actions before it. */
export interface RecordedReads {
  readonly readsRecorded: boolean
  /** Of a call that sends the links of the decision that it comes before. */
  readonly links?: LinksToMake
  /** The earlier actions that its `when` reads. */
  readonly whenSources: readonly number[]
}

const none: RecordedReads = { readsRecorded: false, whenSources: [] }

export function findRecordedReads(action: Action, index: number, declared: Declared): RecordedReads {
  if (!declaresAny(declared) && !declared.collects) return none
  const { ofWhen, ofConfig } = listReads(action)
  const readsLinks = ofConfig.some((path) => isLinkPath(declared, path))
  return {
    ...(readsLinks && { links: declared.links }),
    readsRecorded: [...ofWhen, ...ofConfig].some((path) => findRoot(declared, path)),
    whenSources: [...new Set(ofWhen.flatMap((path) => findSources(declared, path, index)))],
  }
}

/** The fields of the event that ended a WAIT that the actions of a rule read; undefined where one reads all of it. */
export function listWaitedFields(actions: readonly Action[], declared: Declared): string[] | undefined {
  const fields = new Set<string>()
  for (const action of actions) {
    const { ofWhen, ofConfig } = listReads(action)
    for (const path of [...ofWhen, ...ofConfig]) {
      if (findRoot(declared, path) !== 'waited') continue
      const [, field] = parsePath(path) ?? []
      if (field === undefined) return undefined
      fields.add(field)
    }
  }
  return [...fields]
}

function listReads({ when, config }: Action): { ofWhen: string[]; ofConfig: string[] } {
  const where = 'where' in config ? (config.where as Condition[]) : []
  return {
    ofWhen: when === undefined ? [] : listConditionPaths(when, '').map(({ path }) => path),
    ofConfig: [
      ...listConfigUses(config, '').flatMap(({ reads }) => reads),
      ...where.flatMap((condition) => listRootPaths(condition, '').map(({ path }) => path)),
    ],
  }
}
