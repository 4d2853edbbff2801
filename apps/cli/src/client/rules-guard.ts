import type { Command } from 'commander'
import { formatFields } from '../format.js'
import { readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesGuard(rules: Command): void {
  addCommand(rules, {
    name: 'guard',
    description: 'Show the guard of a promoted version, or end it before its time. The version stays.',
    example: `${exampleId} --end`,
    reads: apiVariables,
  })
    .argument('<id>', 'id of the rule', readId)
    .option('--end', 'end the guard; after a rollback, take the rule off the attention list')
    .action(useGuard)
}

async function useGuard(id: string, { end }: { end?: true }, command: Command): Promise<void> {
  if (end) {
    await useApi('change', (client) => client.rules.drafts.endGuard(id))
    return print(command, { ruleId: id, isEnded: true }, `The guard of rule ${id} has ended.`)
  }
  const guard = await useApi('read', (client) => client.rules.drafts.guard(id))
  print(command, guard, formatFields(guard))
}
