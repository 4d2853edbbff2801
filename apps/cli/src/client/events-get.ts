import type { Event } from '@automation/client'
import type { Command } from 'commander'
import { formatFields } from '../format.js'
import { readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { formatRuleResults } from './format-event.js'
import { apiVariables, useApi } from './use-api.js'

export function addEventsGet(events: Command): void {
  addCommand(events, {
    name: 'get',
    description: 'Show an event and the result of each rule for its type.',
    example: exampleId,
    reads: apiVariables,
  })
    .argument('<id>', 'id of the event', readId)
    .action(get)
}

async function get(id: string, _options: object, command: Command): Promise<void> {
  const event = await useApi('read', (client) => client.events.get(id))
  print(command, event, formatEvent(event))
}

export function formatEvent({ results, ...fields }: Event): string {
  return `${formatFields(fields)}\n\n${formatRuleResults(results)}`
}
