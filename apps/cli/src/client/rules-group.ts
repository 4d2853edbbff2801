import type { RuleGroup } from '@automation/client'
import type { Command } from 'commander'
import { formatTable } from '../format.js'
import { readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesGroup(rules: Command): void {
  addCommand(rules, {
    name: 'group',
    description:
      'Show the rules of a group in their order. Of the active ones with one trigger, only the first that matches runs.',
    example: 'routing',
    reads: apiVariables,
  })
    .argument('<name>', 'name of the group')
    .action(async (name: string, _options: object, command: Command) => {
      show(command, await useApi('read', (client) => client.rules.group(name)))
    })
}

export function addRulesReorder(rules: Command): void {
  addCommand(rules, {
    name: 'reorder',
    description:
      'Put the rules of a group into an order. Name all of them, the first one first: they get the orders 10, 20, and so on.',
    example: `routing ${exampleId}`,
    reads: apiVariables,
  })
    .argument('<name>', 'name of the group')
    .argument('<ids...>', 'ids of all rules of the group', (id, before: string[] = []) => [
      ...before,
      readId(id),
    ])
    .action(async (name: string, ids: string[], _options: object, command: Command) => {
      show(command, await useApi('change', (client) => client.rules.reorder(name, ids)))
    })
}

function show(command: Command, group: RuleGroup): void {
  print(command, group, formatTable(group.rules, ['order', 'id', 'name', 'trigger', 'isActive', 'version']))
}
