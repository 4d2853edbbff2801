import type { Command } from 'commander'
import { Type } from 'typebox'
import { usageError } from '../command-error.js'
import { readAs, readDuration, readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesPromote(rules: Command): void {
  addCommand(rules, {
    name: 'promote',
    description:
      'Make the draft of a rule its next version. With a guard, the previous version is restored within 5 s if the new one runs or fails more often than you allow.',
    example: `${exampleId} --guard 24h --max-runs 200 --max-failure-rate 0.2`,
    reads: apiVariables,
  })
    .argument('<id>', 'id of the rule', readId)
    .option('--guard <duration>', 'how long the new version is watched, at most 30d', readGuardTime)
    .option(
      '--max-runs <number>',
      'with --guard: more executions within an hour restore the previous version',
      readAs(Type.Integer({ minimum: 1, maximum: 100_000 })),
    )
    .option(
      '--max-failure-rate <share>',
      'with --guard: a greater share of failed executions restores it, 0 to 1, from five executions on',
      readAs(Type.Number({ minimum: 0, maximum: 1 })),
    )
    .option('--etag <etag>', 'promote only this draft of this version, as rules draft shows it')
    .action(promote)
}

interface PromoteOptions {
  guard?: string
  maxRuns?: number
  maxFailureRate?: number
  etag?: string
}

async function promote(id: string, options: PromoteOptions, command: Command): Promise<void> {
  const { etag: ifTag } = options
  const guard = readGuard(options)
  const rule = await useApi('change', (client) =>
    client.rules.drafts.promote(id, { ...(guard && { guard }), ...(ifTag !== undefined && { ifTag }) }),
  )
  const watched = guard === undefined ? '' : ` A guard watches it for ${guard.for}: rules guard ${id}`
  print(command, rule, `Rule ${id} has version ${rule.version} now.${watched}`)
}

function readGuard({ guard, maxRuns, maxFailureRate }: PromoteOptions) {
  const hasLimit = maxRuns !== undefined || maxFailureRate !== undefined
  if (guard === undefined && hasLimit) throw usageError('A limit needs --guard with a duration, such as 24h.')
  if (guard === undefined) return undefined
  if (!hasLimit) throw usageError('--guard needs --max-runs, --max-failure-rate or both.')
  return {
    for: guard,
    ...(maxRuns !== undefined && { maxRunsPerHour: maxRuns }),
    ...(maxFailureRate !== undefined && { maxFailureRate }),
  }
}

/** The API takes the text. */
function readGuardTime(text: string): string {
  readDuration(text)
  return text
}
