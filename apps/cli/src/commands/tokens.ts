import { mintToken, recordToken, UserId } from '@automation/access'
import type { Command } from 'commander'
import { readTokenSettings } from '../config.js'
import { maskControls } from '../format.js'
import { readAs, readDuration } from '../option-readers.js'
import { addCommand, addGroup, print } from '../program.js'
import { useDatabase } from '../use-database.js'

const hourMs = 3_600_000

export function addTokens(program: Command): void {
  const tokens = addGroup(program, {
    name: 'tokens',
    description: 'Create JSON Web Tokens for development.',
    example: 'mint --user ada',
  })
  addCommand(tokens, {
    name: 'mint',
    description:
      'Sign a token (HS256) for a user, and print it. A token cannot be revoked. The audit log of each workspace that it gives access to has an entry.',
    example: '--user ada --expires-in 8h',
    reads: ['DATABASE_URL', 'JWT_SECRET', 'JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'],
  })
    .requiredOption(
      '--user <user>',
      'the sub of the token; the user need not be a member of any workspace',
      readAs(UserId),
    )
    .option('--expires-in <duration>', 'lifetime, such as 15m (default: 1h)', readDuration)
    .action(mint)
}

async function mint(
  { user: userId, expiresIn = hourMs }: { user: string; expiresIn?: number },
  command: Command,
): Promise<void> {
  const settings = readTokenSettings()
  const expiresInSeconds = expiresIn / 1_000
  // First the entries: a token that nobody knows of must not exist.
  const workspaces = await useDatabase('change', (administrator) =>
    recordToken(administrator, { userId, expiresAt: new Date(Date.now() + expiresIn) }),
  )
  const token = await mintToken({ ...settings, userId, expiresInSeconds })
  console.error(maskControls(describeRecord(userId, workspaces)))
  print(command, { token, userId, expiresInSeconds, recordedIn: workspaces.map(({ id }) => id) }, token)
}

function describeRecord(userId: string, workspaces: { name: string }[]): string {
  if (workspaces.length === 0)
    return `${userId} is a member of no workspace, so no audit log has an entry of the token.`
  const names = workspaces.map(({ name }) => JSON.stringify(name)).join(', ')
  return `Recorded in the audit log of ${names}.`
}
