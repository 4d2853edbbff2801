import {
  type CompiledCondition,
  type Condition,
  compileCondition,
  type Evaluation,
  isLeaf,
  partsOf,
} from '@automation/engine'

export interface ClauseCount {
  path: string
  held: number
  aloneFailed: number
}

type Node =
  | { index: number; holds: CompiledCondition['holds'] }
  | { group: 'all' | 'any'; children: Node[] }
  | { group: 'not'; children: [Node] }

/**
 * Counts for each clause of a rule the events for which it held, and those for which it alone stood in the way: had only this clause turned,
 * the rule would have matched.
 */
export class ClauseTally {
  readonly #root: Node
  readonly #paths: string[] = []
  readonly #held: number[]
  readonly #aloneFailed: number[]
  /** Of the event that is being counted, by the index of the clause. */
  readonly #verdicts: boolean[] = []

  constructor(conditions: readonly Condition[], saved?: [held: number, aloneFailed: number][]) {
    const children = conditions.map((condition, index) => this.#compile(condition, `conditions[${index}]`))
    this.#root = { group: 'all', children }
    this.#held = this.#paths.map((_, index) => saved?.[index]?.[0] ?? 0)
    this.#aloneFailed = this.#paths.map((_, index) => saved?.[index]?.[1] ?? 0)
  }

  /** Evaluates the clauses of an event, which may be counted next. @returns whether they were all evaluated */
  evaluate(data: unknown, evaluation: Evaluation): boolean {
    evaluation.beginRule()
    this.#evaluate(this.#root, data, evaluation)
    return evaluation.overrun === null
  }

  /** Counts the event that was evaluated last. @returns whether one clause alone stood in the way */
  count(hasMatched: boolean): boolean {
    const verdict = this.#verdictOf(this.#root)
    for (const [index, held] of this.#verdicts.entries())
      if (held) this.#held[index] = (this.#held[index] ?? 0) + 1
    if (hasMatched || verdict) return false
    return this.#countTurning(this.#root)
  }

  list(): ClauseCount[] {
    return this.#paths.map((path, index) => ({
      path,
      held: this.#held[index] as number,
      aloneFailed: this.#aloneFailed[index] as number,
    }))
  }

  save(): [held: number, aloneFailed: number][] {
    return this.list().map(({ held, aloneFailed }) => [held, aloneFailed])
  }

  #compile(condition: Condition, path: string): Node {
    if (isLeaf(condition))
      return { index: this.#paths.push(path) - 1, holds: compileCondition(condition).holds }
    const children = partsOf(condition).map((part) => this.#compile(part.condition, path + part.place))
    if ('not' in condition) return { group: 'not', children: [children[0] as Node] }
    return { group: 'all' in condition ? 'all' : 'any', children }
  }

  /** Evaluates all clauses, those too that do not decide. */
  #evaluate(node: Node, data: unknown, evaluation: Evaluation): boolean {
    if ('index' in node) {
      const holds = node.holds(data, evaluation)
      this.#verdicts[node.index] = holds
      return holds
    }
    let held = 0
    for (const child of node.children) if (this.#evaluate(child, data, evaluation)) held++
    return combine(node, held)
  }

  /** Counts the clauses that turn the verdict of a node by themselves. @returns whether there is one */
  #countTurning(node: Node): boolean {
    if ('index' in node) {
      this.#aloneFailed[node.index] = (this.#aloneFailed[node.index] ?? 0) + 1
      return true
    }
    const { group, children } = node
    const verdict = this.#verdictOf(node)
    if (group === 'not') return this.#countTurning(children[0])
    // One child is enough to turn an `all` that holds and an `any` that fails. Of the others, one alone must be in the way.
    const turning =
      verdict === (group === 'all')
        ? children
        : children.filter((child) => this.#verdictOf(child) === verdict)
    if (verdict !== (group === 'all') && turning.length !== 1) return false
    let isTurned = false
    for (const child of turning) if (this.#countTurning(child)) isTurned = true
    return isTurned
  }

  /** Of the event that was evaluated last. */
  #verdictOf(node: Node): boolean {
    if ('index' in node) return this.#verdicts[node.index] as boolean
    return combine(node, node.children.filter((child) => this.#verdictOf(child)).length)
  }
}

function combine({ group, children }: Exclude<Node, { index: number }>, held: number): boolean {
  if (group === 'all') return held === children.length
  return group === 'any' ? held > 0 : held === 0
}
