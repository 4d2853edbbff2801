import type { Command } from 'commander'
import { apiVariables } from '../client/use-api.js'
import { isUnderNpm } from '../config.js'
import { addCommand } from '../program.js'

export function addMcp(program: Command): void {
  addCommand(program, {
    name: 'mcp',
    description:
      'Serve an assistant over standard input and output, by the Model Context Protocol. It reads, checks and tests rules, saves drafts and starts backtests. Promoting, activating and deleting stay with people.',
    example: '',
    isForProgram: true,
    reads: apiVariables,
  }).action(async () => {
    if (isUnderNpm())
      console.error(
        'npm writes lines of its own to standard output, which an assistant cannot read: start it with npm run -s, or as node apps/cli/run.mjs client mcp.',
      )
    // Its libraries take a tenth of a second, which the other commands do not pay.
    const { serveMcp } = await import('./serve-mcp.js')
    await serveMcp()
  })
}
