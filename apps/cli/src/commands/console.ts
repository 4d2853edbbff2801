import { mintToken, UserId } from '@automation/access'
import { mintLink } from '@automation/sign-in'
import type { Command } from 'commander'
import { Type } from 'typebox'
import { readConsoleSettings, readTokenSettings } from '../config.js'
import { readAs } from '../option-readers.js'
import { addCommand, print } from '../program.js'

const Minutes = Type.Integer({ minimum: 1, maximum: 1_440, description: 'a number of minutes' })
const usualMinutes = 15

export function addConsole(program: Command): void {
  const console = addCommand(program, {
    name: 'console',
    description: 'Sign users in to the console.',
    example: 'link --user ada',
  })
  addCommand(console, {
    name: 'link',
    description:
      'Print a link that signs a user in to the console, once. Needs CONSOLE_SECRET, CONSOLE_URL and JWT_SECRET, but no database.',
    example: '--user ada --minutes 10',
  })
    .requiredOption(
      '--user <user>',
      'the user who signs in; the user need not be a member of any workspace',
      readAs(UserId),
    )
    .option('--minutes <minutes>', `how long the link works (default: ${usualMinutes})`, readAs(Minutes))
    .action(link)
}

async function link(
  { user: userId, minutes = usualMinutes }: { user: string; minutes?: number },
  command: Command,
): Promise<void> {
  const { url: consoleUrl, secret, sessionHours } = readConsoleSettings()
  const bearer = await mintToken({
    ...readTokenSettings(),
    userId,
    expiresInSeconds: sessionHours * 3_600,
  })
  const made = await mintLink({ consoleUrl, secret, bearer, lifetimeSeconds: minutes * 60 })
  print(command, { url: made, userId, minutes }, made)
}
