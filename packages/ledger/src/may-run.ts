/**
 * Whether an execution may begin or continue, in SQL: its rule is active, or somebody requested it by hand and its rule is no shadow. The text
 * is undecided (null) where the rule is gone. It is for rules' executions alone: a delivery has no rule.
 *
 * @param rule the alias of the rule's row
 * @param isByHand a condition
 */
export function mayRunSql(rule: string, isByHand: string): string {
  return `(${rule}.is_active OR (${isByHand} AND ${rule}.mode <> 'shadow'))`
}
