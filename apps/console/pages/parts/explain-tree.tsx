import type { ConditionTrace } from '@automation/client'
import { describeActual, describeClause } from '../logic/describe-clause.js'
import { type MarkedNode, markConditions } from '../logic/marks.js'
import { Icon } from './icon.js'

const words = { stops: 'stops the rule', passes: 'passes', irrelevant: 'did not decide' } as const
const icons = { stops: 'close', passes: 'check', irrelevant: 'minus' } as const
const groups = { all: 'all of these', any: 'at least one of these', not: 'not' } as const

/** Why a rule would run for an event, or not: each condition and what it contributes. */
export function ExplainTree({
  conditions,
  paths = [],
}: {
  conditions: readonly ConditionTrace[]
  paths?: readonly string[]
}) {
  if (conditions.length === 0)
    return <p class="quiet">The rule has no conditions, so it runs for every event of its type.</p>
  return <Nodes nodes={markConditions(conditions)} paths={paths} />
}

function Nodes({ nodes, paths }: { nodes: MarkedNode[]; paths: readonly string[] }) {
  return (
    <ul class="explain">
      {nodes.map((node, index) => (
        <li key={index} class={node.mark}>
          <Icon name={icons[node.mark]} />
          <span class="hidden">{words[node.mark]}: </span>
          <NodeText {...node} paths={paths} />
        </li>
      ))}
    </ul>
  )
}

function NodeText({ trace, children, mark, paths }: MarkedNode & { paths: readonly string[] }) {
  if ('group' in trace && trace.group !== undefined)
    return (
      <span>
        {groups[trace.group]}
        <Nodes nodes={children} paths={paths} />
      </span>
    )
  const { warning } = trace as { warning?: string }
  return (
    <span>
      <code>{describeClause(trace)}</code>{' '}
      <span class={mark === 'stops' ? '' : 'quiet'}>{warning ?? describeActual(trace, paths)}</span>
      {children.length > 0 && <Nodes nodes={children} paths={paths} />}
    </span>
  )
}
