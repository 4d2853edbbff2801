import type { RuleGuard } from '@automation/client'
import { formatCount } from './count-words.js'

type Limits = Pick<RuleGuard, 'maxRunsPerHour' | 'maxFailureRate'>

/** `more than 200 runs within an hour, or more than 20 % of them failing`. */
export function describeLimits({ maxRunsPerHour, maxFailureRate }: Limits): string {
  return [
    maxRunsPerHour === null ? [] : `more than ${writeRuns(maxRunsPerHour)} within an hour`,
    maxFailureRate === null
      ? []
      : `more than ${writeShare(maxFailureRate)} of the executions of an hour failing`,
  ]
    .flat()
    .join(', or ')
}

/** Why a guard has restored the previous version. */
export function describeTrip({ tripReason, ...limits }: Limits & Pick<RuleGuard, 'tripReason'>): string {
  return tripReason === 'runs'
    ? `there were ${describeLimits({ ...limits, maxFailureRate: null })}`
    : `more than ${writeShare(limits.maxFailureRate ?? 0)} of its executions within an hour failed`
}

function writeRuns(runs: number): string {
  return `${formatCount(runs)} ${runs === 1 ? 'execution' : 'executions'}`
}

function writeShare(share: number): string {
  return `${formatCount(Number((share * 100).toFixed(2)))} %`
}
