/** What the API said to somebody who decided. */
export interface Said {
  executionId: string
  choice: string
  /** 0: nothing, so the decision may have been made. */
  status: number
}

export interface DecisionTables {
  executions: {
    id: string
    ruleId: string
    status: string
    decision: { choice: string } | null
    results: { action: string; decision?: { choice: string } }[]
  }[]
  tasks: { executionId: string; title: string }[]
}

/**
 * What must hold of the decisions of a rule, told from what people were told and from what is stored: each has one outcome, which is the choice that was accepted. What
 * was accepted is never expired, and what expired was accepted from nobody.
 */
export function checkDecisions(
  { executions, tasks }: DecisionTables,
  ruleId: string,
  said: readonly Said[],
): string[] {
  const violations: string[] = []
  for (const { id, status, decision, results } of executions.filter(
    (execution) => execution.ruleId === ruleId,
  )) {
    const name = `decision ${id}`
    const choice = results.find(({ action }) => action === 'WAIT')?.decision?.choice
    if (status !== 'succeeded' || choice === undefined) {
      violations.push(`${name} is ${status}, with ${choice}`)
      continue
    }
    const told = said.filter(({ executionId }) => executionId === id)
    const accepted = told.filter((one) => one.status === 200).map((one) => one.choice)
    if (accepted.length > 1) violations.push(`${name} was accepted ${accepted.length} times`)
    if (accepted.some((one) => one !== choice))
      violations.push(`${name} was accepted as ${accepted.join()}, and is ${choice}`)
    const mayBe = told.filter((one) => one.status === 200 || one.status === 0 || one.status >= 500)
    if (choice !== 'expired' && !mayBe.some((one) => one.choice === choice))
      violations.push(`${name} is ${choice}, which nobody decided`)
    if ((decision?.choice ?? 'expired') !== choice)
      violations.push(`${name} is ${choice}, and its decision ${decision?.choice}`)
    const titles = tasks.filter(({ executionId }) => executionId === id).map(({ title }) => title)
    if (JSON.stringify(titles) !== JSON.stringify([choice]))
      violations.push(`${name} is ${choice}, with the tasks ${titles.join()}`)
  }
  return violations
}
