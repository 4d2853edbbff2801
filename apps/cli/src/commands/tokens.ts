import { mintToken, UserId } from '@automation/access'
import type { Command } from 'commander'
import { readTokenSettings } from '../config.js'
import { readAs, readDuration } from '../option-readers.js'
import { addCommand, print } from '../program.js'

const hourMs = 3_600_000

export function addTokens(program: Command): void {
  const tokens = addCommand(program, {
    name: 'tokens',
    description: 'Create JSON Web Tokens for development.',
    example: 'mint --user ada',
  })
  addCommand(tokens, {
    name: 'mint',
    description: 'Sign a token (HS256) for a user, and print it. Needs JWT_SECRET, but no database.',
    example: '--user ada --expires-in 8h',
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
  const token = await mintToken({ ...readTokenSettings(), userId, expiresInSeconds: expiresIn / 1_000 })
  print(command, { token, userId, expiresInSeconds: expiresIn / 1_000 }, token)
}
