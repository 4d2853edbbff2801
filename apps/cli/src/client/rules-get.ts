import type { Command } from 'commander'
import { maskControls } from '../format.js'
import { readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { writeYaml } from '../rule-text.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesGet(rules: Command): void {
  addCommand(rules, {
    name: 'get',
    description: 'Show a rule with its conditions, actions and counters.',
    example: exampleId,
    reads: apiVariables,
  })
    .argument('<id>', 'id of the rule', readId)
    .action(get)
}

async function get(id: string, _options: object, command: Command): Promise<void> {
  const rule = await useApi('read', (client) => client.rules.get(id))
  const lines = writeYaml(rule).trimEnd().split('\n')
  print(command, rule, lines.map(maskControls).join('\n'))
}
