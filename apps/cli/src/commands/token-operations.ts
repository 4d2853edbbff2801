import { mintToken, recordToken, UserId } from '@automation/access'
import { mintLink, sessionHours } from '@automation/process/sign-in'
import { Type } from 'typebox'
import { readConsoleSettings, readTokenSettings } from '../config.js'
import { maskControls } from '../format.js'
import { readAs, readDuration } from '../option-readers.js'
import { useDatabase } from '../use-database.js'
import type { VariableName } from '../variables.js'
import type { DatabaseOperation } from './database-operation.js'

const Minutes = Type.Integer({ minimum: 1, maximum: 1_440, description: 'a number of minutes' })
const usualMinutes = 15
const hourMs = 3_600_000
const tokenVariables: VariableName[] = ['JWT_SECRET', 'JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE']

export const tokenOperations: readonly DatabaseOperation[] = [
  {
    words: 'tokens mint',
    description:
      'Sign a token (HS256) for a user, and print it. A token cannot be revoked. The audit log of each workspace that it gives access to has an entry.',
    example: '--user ada --expires-in 8h',
    reads: ['DATABASE_URL', ...tokenVariables],
    needs: [
      [
        '--user <user>',
        'the sub of the token; the user need not be a member of any workspace',
        readAs(UserId),
      ],
    ],
    takes: [['--expires-in <duration>', 'lifetime, such as 15m (default: 1h)', readDuration]],
    says: '{token}',
    run: async ({ user, expiresIn = hourMs }) => {
      const { workspaces, ...made } = await mintRecorded(user, expiresIn)
      console.error(maskControls(describeRecord(user, workspaces)))
      return { ...made, recordedIn: workspaces.map(({ id }) => id) }
    },
  },
  {
    words: 'console link',
    description:
      'Print a link that signs a user in to the console, once. The audit log of each workspace that it gives access to has an entry.',
    example: '--user ada --minutes 10',
    reads: ['DATABASE_URL', 'CONSOLE_SECRET', 'CONSOLE_URL', ...tokenVariables],
    needs: [
      [
        '--user <user>',
        'the user who signs in; the user need not be a member of any workspace',
        readAs(UserId),
      ],
    ],
    takes: [['--minutes <minutes>', `how long the link works (default: ${usualMinutes})`, readAs(Minutes)]],
    says: '{url}',
    run: async ({ user, minutes = usualMinutes }) => {
      const { url: consoleUrl, secret } = readConsoleSettings()
      const { token: bearer } = await mintRecorded(user, sessionHours * hourMs)
      const url = await mintLink({ consoleUrl, secret, bearer, lifetimeSeconds: minutes * 60 })
      return { url, userId: user, minutes }
    },
  },
]

/** First come the entries: no token must exist without one. */
async function mintRecorded(userId: string, lifetimeMs: number) {
  const settings = readTokenSettings()
  const expiresInSeconds = lifetimeMs / 1_000
  const workspaces = await useDatabase('change', (administrator) =>
    recordToken(administrator, { userId, expiresAt: new Date(Date.now() + lifetimeMs) }),
  )
  return {
    token: await mintToken({ ...settings, userId, expiresInSeconds }),
    userId,
    expiresInSeconds,
    workspaces,
  }
}

function describeRecord(userId: string, workspaces: { name: string }[]): string {
  if (workspaces.length === 0)
    return `${userId} is a member of no workspace, so no audit log has an entry of the token.`
  const names = workspaces.map(({ name }) => JSON.stringify(name)).join(', ')
  return `Recorded in the audit log of ${names}.`
}
