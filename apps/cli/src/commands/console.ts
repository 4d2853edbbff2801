import { mintToken, recordToken, UserId } from '@automation/access'
import { mintLink, sessionHours } from '@automation/process/sign-in'
import type { Command } from 'commander'
import { Type } from 'typebox'
import { readConsoleSettings, readTokenSettings } from '../config.js'
import { readAs } from '../option-readers.js'
import { addCommand, addGroup, print } from '../program.js'
import { useDatabase } from '../use-database.js'

const Minutes = Type.Integer({ minimum: 1, maximum: 1_440, description: 'a number of minutes' })
const usualMinutes = 15

export function addConsole(program: Command): void {
  const console = addGroup(program, {
    name: 'console',
    description: 'Sign users in to the console.',
    example: 'link --user ada',
  })
  addCommand(console, {
    name: 'link',
    description:
      'Print a link that signs a user in to the console, once. The audit log of each workspace that it gives access to has an entry.',
    example: '--user ada --minutes 10',
    reads: [
      'DATABASE_URL',
      'CONSOLE_SECRET',
      'CONSOLE_URL',
      'JWT_SECRET',
      'JWKS_URL',
      'JWT_ISSUER',
      'JWT_AUDIENCE',
    ],
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
  const { url: consoleUrl, secret } = readConsoleSettings()
  const settings = readTokenSettings()
  const expiresInSeconds = sessionHours * 3_600
  // First the entries: a token that nobody knows of must not exist.
  await useDatabase('change', (administrator) =>
    recordToken(administrator, { userId, expiresAt: new Date(Date.now() + expiresInSeconds * 1_000) }),
  )
  const bearer = await mintToken({ ...settings, userId, expiresInSeconds })
  const made = await mintLink({ consoleUrl, secret, bearer, lifetimeSeconds: minutes * 60 })
  print(command, { url: made, userId, minutes }, made)
}
