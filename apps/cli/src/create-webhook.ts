import type { Command } from 'commander'
import { addSend } from './commands/send.js'
import { createProgram } from './program.js'

/** `npm run webhook`, ready to be run. */
export function createWebhook(): Command {
  const program = createProgram({
    name: 'npm run webhook --',
    description: 'Plays the provider: signs webhooks and sends them to a running product.',
    example: 'send --replay',
  })
  addSend(program)
  return program
}
