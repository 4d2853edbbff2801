/** What the API said to somebody who decided. */
export interface Said {
  executionId: string
  choice: string
  /** 0: nothing, so the decision may have been made. */
  status: number
}

export interface DecisionTables {
  events: { type: string; data: { executionId?: string; choice?: string } }[]
  executions: {
    id: string
    ruleId: string
    status: string
    results: { action: string; decision?: { choice: string } }[]
  }[]
  tasks: { executionId: string; title: string }[]
}

/**
 * What must hold of the decisions of a rule, told from what people were told and from what is stored: each has one outcome, which is the choice that was accepted. What
 * was accepted is never expired, and what expired was accepted from nobody.
 */
export function checkDecisions(
  { events, executions, tasks }: DecisionTables,
  ruleId: string,
  said: readonly Said[],
): string[] {
  const violations: string[] = []
  for (const { id, status, results } of executions.filter((execution) => execution.ruleId === ruleId)) {
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
    const made = events.filter(({ type, data }) => type === 'DECISION' && data.executionId === id)
    const expected = choice === 'expired' ? [] : [choice]
    if (JSON.stringify(made.map(({ data }) => data.choice)) !== JSON.stringify(expected))
      violations.push(`${name} is ${choice}, with ${made.length} events`)
    const titles = tasks.filter(({ executionId }) => executionId === id).map(({ title }) => title)
    if (JSON.stringify(titles) !== JSON.stringify([choice]))
      violations.push(`${name} is ${choice}, with the tasks ${titles.join()}`)
  }
  return violations
}
