import type { Command } from 'commander'
import { Type } from 'typebox'
import { formatTable } from '../format.js'
import { readAs, readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesSchedule(rules: Command): void {
  addCommand(rules, {
    name: 'schedule',
    description:
      'Show the next times at which a rule runs by its schedule, and what changes of the clocks mean for them.',
    example: exampleId,
    reads: apiVariables,
  })
    .argument('<id>', 'id of the rule', readId)
    .option(
      '--next <number>',
      'number of times, at most 100',
      readAs(Type.Integer({ minimum: 1, maximum: 100 })),
    )
    .action(async (id: string, { next }: { next?: number }, command: Command) => {
      const ticks = await useApi('read', (client) =>
        client.rules.schedule(id, next === undefined ? {} : { next }),
      )
      print(command, ticks, formatTable(ticks.next, ['scheduledAt', 'localTime', 'clockChange']))
    })
}
