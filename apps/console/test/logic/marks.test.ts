import type { ConditionTrace } from '@automation/client'
import fc from 'fast-check'
import t from 'tap'
import { findStop, type MarkedNode, markConditions } from '../../pages/logic/marks.js'

const leaf = (verdict: boolean): ConditionTrace => ({ field: 'a', operator: 'equals', verdict })

const trace: fc.Arbitrary<ConditionTrace> = fc.letrec<{ node: ConditionTrace }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.boolean().map(leaf),
    fc
      .tuple(
        fc.constantFrom('all' as const, 'any' as const),
        fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      )
      .map(([group, children]) => ({
        group,
        children,
        verdict:
          group === 'all'
            ? children.every(({ verdict }) => verdict)
            : children.some(({ verdict }) => verdict),
      })),
    tie('node').map((child) => ({ group: 'not' as const, children: [child], verdict: !child.verdict })),
  ),
})).node

const all = (nodes: MarkedNode[]): MarkedNode[] => nodes.flatMap((node) => [node, ...all(node.children)])

t.test('something stops a rule exactly if it does not run, and the first stop is a clause', async () => {
  fc.assert(
    fc.property(fc.array(trace, { maxLength: 4 }), (traces) => {
      const nodes = markConditions(traces)
      const runs = traces.every(({ verdict }) => verdict)
      const stops = all(nodes).some(({ mark }) => mark === 'stops')
      const stop = findStop(nodes)
      return stops === !runs && (stop === undefined) === runs && (stop?.children.length ?? 0) === 0
    }),
  )
})

t.test('below something that lets a rule through, nothing stops it', async () => {
  fc.assert(
    fc.property(fc.array(trace, { maxLength: 4 }), (traces) =>
      all(markConditions(traces))
        .filter(({ mark }) => mark !== 'stops')
        .every((node) => all(node.children).every(({ mark }) => mark !== 'stops')),
    ),
  )
})

t.test('the child of a met not lets through, and an unneeded alternative does not matter', async (t) => {
  const [not] = markConditions([{ group: 'not', children: [leaf(false)], verdict: true }])
  t.match(not, { mark: 'passes', children: [{ mark: 'passes' }] })
  const [any] = markConditions([{ group: 'any', children: [leaf(true), leaf(false)], verdict: true }])
  t.match(any, { mark: 'passes', children: [{ mark: 'passes' }, { mark: 'irrelevant' }] })
})
