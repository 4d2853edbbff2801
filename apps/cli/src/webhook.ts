import { addSend } from './commands/send.js'
import { createProgram, runProgram } from './program.js'

const program = createProgram({
  name: 'npm run webhook --',
  description: 'Plays the provider: signs webhooks and sends them to a running product.',
  example: 'send --replay',
})
addSend(program)
await runProgram(program)
