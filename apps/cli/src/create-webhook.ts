import type { Command } from 'commander'
import { addSend } from './commands/send.js'
import { createProgram } from './program.js'

/** The program behind `npm run webhook`. */
export function createWebhook(): Command {
  const program = createProgram({
    name: 'npm run webhook --',
    description: 'Act as a webhook provider: sign webhooks and send them to a running product.',
    example: 'send --replay',
  })
  addSend(program)
  return program
}
