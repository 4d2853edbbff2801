import { constants, copyFile, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { mintToken } from '@automation/access'
import { newId } from '@automation/database'
import { CannotStart } from '../cannot-start.js'
import { exampleRules } from '../entries.js'
import { writePrivateFile } from '../private-file.js'
import { type DemoCredentials, seedDatabase } from './demo-database.js'
import { welcomeRule } from './welcome-rule.js'

/** The content of `.data/demo.json`, for the curl lines of the README and for `npm run webhook`. */
export interface Demo extends DemoCredentials {
  baseUrl: string
  board: { url: string; user: string; password: string }
  /** Where the console is; npm start prints a link that signs in. */
  consoleUrl: string
  workspaceId: string
  token: string
  viewerToken: string
  otherWorkspaceId: string
  otherToken: string
}

/** Of the demo's tokens, and of a session in its console. */
const lifetimeSeconds = 30 * 24 * 60 * 60

/**
 * Creates two workspaces with their members, an API key, a signing secret, and a first rule if there is none. Ids stay
 * the same as long as the file exists, whatever the database; key and secret stay the same as long as they are usable.
 * Tokens are new each time.
 *
 * @param file readable by its owner only, because it contains tokens
 */
export async function seedDemo(options: {
  file: string
  databaseUrl: string
  baseUrl: string
  board: Demo['board']
  consoleUrl: string
  jwtSecret: string
  encryptionKey: string
}): Promise<Demo> {
  const { file, baseUrl, board, consoleUrl, jwtSecret } = options
  const known = await readDemo(file)
  const workspaceId = known.workspaceId ?? newId()
  const otherWorkspaceId = known.otherWorkspaceId ?? newId()
  const credentials = await seedDatabase(options, { ...known, workspaceId, otherWorkspaceId })

  const mint = (userId: string) => mintToken({ secret: jwtSecret, userId, expiresInSeconds: lifetimeSeconds })
  const demo: Demo = {
    baseUrl,
    board,
    consoleUrl,
    workspaceId,
    token: await mint('demo-admin'),
    viewerToken: await mint('demo-viewer'),
    ...credentials,
    otherWorkspaceId,
    otherToken: await mint('other-admin'),
  }
  await createFirstRule(demo)
  await copyRuleFile(join(dirname(file), 'rules.yaml'))
  await writePrivateFile(file, `${JSON.stringify(demo, null, 2)}\n`)
  return demo
}

async function readDemo(file: string): Promise<Partial<Demo>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Partial<Demo>
  } catch {
    return {}
  }
}

/** The first rule in a file, with its tests: what a repository of rules begins with. A file that is there stays. */
async function copyRuleFile(path: string): Promise<void> {
  await copyFile(exampleRules, path, constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

async function createFirstRule({ baseUrl, token, workspaceId }: Demo): Promise<void> {
  const call = async (init?: { method: string; body: string }) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'x-workspace-id': workspaceId,
      'content-type': 'application/json',
    }
    const response = await fetch(`${baseUrl}/api/automation-rules`, { headers, ...init }).catch((error) => {
      const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException
      throw new CannotStart(`The demo could not be set up: ${baseUrl} does not respond (${code ?? message}).`)
    })
    if (!response.ok)
      throw new CannotStart(`The demo could not be set up: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const { rules } = (await call()) as { rules: unknown[] }
  if (rules.length === 0) await call({ method: 'POST', body: JSON.stringify(welcomeRule) })
}
