import type { Command } from 'commander'
import { createAdmin } from './create-admin.js'
import { createClientProgram } from './create-client-program.js'
import { createWebhook } from './create-webhook.js'
import { pathOf } from './program.js'

const columns = 110
const [start, end] = ['<!-- generated: commands -->\n', '<!-- end -->']

/** Replaces the reference part of docs/command-line.md by the help of every command, as the command prints it. */
export async function fillCommandPage(page: string): Promise<string> {
  const [before = '', rest] = page.split(start)
  const after = rest?.split(end)[1]
  if (after === undefined) throw new Error('docs/command-line.md has no generated part')
  const programs = [createClientProgram(), await createAdmin(), createWebhook()]
  return `${before}${start}${programs.flatMap(writeHelps).join('\n')}${end}${after}`
}

/** A heading for each command that does something; a group is only its commands. */
function writeHelps(command: Command): string[] {
  if (command.commands.length > 0) {
    const heading =
      command.parent === null ? [`## ${pathOf(command).replace(/ --$/, '')}\n${command.description()}\n`] : []
    return [...heading, ...command.commands.flatMap(writeHelps)]
  }
  const words = pathOf(command).split(' -- ')[1]
  return [`### ${words}\n\`\`\`text\n${readHelp(command)}\`\`\`\n`]
}

function readHelp(command: Command): string {
  let help = ''
  command.configureOutput({
    getOutHelpWidth: () => columns,
    writeOut: (text) => {
      help += text
    },
  })
  command.outputHelp()
  return help
}
