import type { Scenario } from '../measurements.js'

/** What grows, and the request that is measured. */
export interface GrowthScenario extends Scenario {
  grows: 'rules' | 'history'
  /** Its size. */
  size: number
  /** The path that is read, or undefined for a posted event. */
  reads?: string
}

const ruleCounts = [10, 1_000, 100_000]
const asked: { name: string; reads?: string; connections: number[] }[] = [
  { name: 'trigger', connections: [32] },
  { name: 'list of executions', reads: '/api/executions?limit=50', connections: [4] },
  { name: 'health', reads: '/api/automation-rules/health', connections: [4] },
  { name: 'attention', reads: '/api/automation-rules/attention', connections: [4] },
]

/** @param isLarge adds a history of ten million events, which takes minutes and some gigabytes */
export function listScenarios(isLarge: boolean): GrowthScenario[] {
  const histories = isLarge ? [0, 1_000_000, 10_000_000] : [0, 1_000_000]
  return [
    ...ruleCounts.map((size) => ({
      name: `events, ${tell(size)} rules`,
      grows: 'rules' as const,
      size,
      connections: [128],
    })),
    ...asked.flatMap(({ name, ...how }) =>
      histories.map((size) => ({
        name: `${name}, history of ${tell(size)}`,
        grows: 'history' as const,
        size,
        ...how,
      })),
    ),
  ]
}

export function tell(count: number): string {
  return count.toLocaleString('en-US')
}
