import {
  type CheckedRule,
  findRecordedReads,
  findRoot,
  listConditionPaths,
  listLeaves,
  readDeclared,
} from '@automation/engine'

/** Who looks at a part does not know its rule, so these are noted before the rules are checked. */
const parts = new WeakSet<object>()

/** Notes the actions, and the clauses of their `when`, that read what earlier actions record: no event decides what that is. */
export function noteRecorded({ actions, perKey }: CheckedRule): void {
  const declared = readDeclared(actions, perKey)
  for (const [index, action] of actions.entries()) {
    if (findRecordedReads(action, index, declared).readsRecorded) parts.add(action)
    for (const { leaf } of action.when ? listLeaves(action.when, '') : []) {
      const isRead = listConditionPaths(leaf, '').some(({ path }) => findRoot(declared, path))
      if (isRead) parts.add(leaf)
    }
  }
}

export function isRecorded(part: object): boolean {
  return parts.has(part)
}
