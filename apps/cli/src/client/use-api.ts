import { ApiError, type Client, createClient } from '@automation/client'
import { CommandError } from '../command-error.js'
import { readApiSettings } from '../config.js'
import { maskControls } from '../format.js'
import { demoFile, readDemo } from '../read-demo.js'
import type { Purpose } from '../use-database.js'
import type { VariableName } from '../variables.js'

/** The environment of every command that calls the API. */
export const apiVariables: VariableName[] = ['RULES_URL', 'RULES_TOKEN', 'RULES_WORKSPACE']

export interface Api {
  client: Client
  url: string
  workspace: string | undefined
}

/** Calls the API as the user whom the environment names. @throws CommandError if the API refuses or does not respond */
export async function useApi<Result>(
  purpose: Purpose,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const { client, url, workspace } = openApi()
  if (purpose === 'change')
    console.error(maskControls(`Target: ${url}${workspace === undefined ? '' : `, workspace ${workspace}`}`))
  try {
    return await work(client)
  } catch (error) {
    throw error instanceof ApiError ? explainError(error, url) : error
  }
}

/** @throws CommandError if the environment does not name an API and a user */
export function openApi(): Api {
  const { url, token, workspace } = completeIdentity(readApiSettings())
  const isApiKey = token.startsWith('ark_')
  const client = createClient({
    baseUrl: url,
    ...(isApiKey ? { apiKey: token } : { token }),
    workspaceId: workspace,
  })
  return { client, url, workspace }
}

interface Identity {
  url: string
  token: string
  workspace: string | undefined
}

/**
 * The demo's URL and token are taken together, or neither. Anybody can have written the file in a directory that somebody opens: a token of the
 * environment must not go to its URL.
 */
function completeIdentity({ url, token, workspace }: Partial<Identity>): Identity {
  const demo = url === undefined && token === undefined ? readDemo() : undefined
  const [baseUrl, secret] = [url ?? demo?.baseUrl, token ?? demo?.token]
  if (baseUrl === undefined)
    throw new CommandError(
      token === undefined
        ? `Set RULES_URL, or run npm start first, which writes ${demoFile}.`
        : 'Set RULES_URL as well: RULES_TOKEN goes to no URL that the environment does not name.',
    )
  if (!/^https?:/.test(baseUrl) || !URL.canParse(baseUrl))
    throw new CommandError('RULES_URL must look like http://127.0.0.1:3000.')
  if (secret === undefined) throw new CommandError('Set RULES_TOKEN to the token of a user or to an API key.')
  // fetch would repeat the token in its error.
  if (!/^[\x21-\x7e]+$/.test(secret))
    throw new CommandError('RULES_TOKEN must have no spaces, line breaks or characters beyond ASCII.')
  // An API key belongs to one workspace.
  const ofDemo = secret.startsWith('ark_') ? undefined : demo?.workspaceId
  return { url: new URL(baseUrl).href.replace(/\/+$/, ''), token: secret, workspace: workspace ?? ofDemo }
}

/** One line for the refusal, and one for each fault. */
export function explainError(error: ApiError, url: string): CommandError {
  const { status, code, message, errors = [], requestId } = error
  if (status === 0)
    return new CommandError(
      `No response from ${new URL(url).origin}: ${message}. Run npm start first, or set RULES_URL.`,
      { cause: error },
    )
  const faults = errors.map((fault) => `\n${fault.field}: ${fault.message}`).join('')
  const request = requestId === undefined ? '' : ` (request ${requestId})`
  // Also one that this command does not know: messages.md of its release has it.
  const reason = code === undefined ? '' : ` ${code}`
  const said = errors.length === 0 ? `: ${message}${request}` : `${request}:${faults}`
  const text = `The API responded ${status}${reason}${said}`
  return new CommandError(text.split('\n').map(maskControls).join('\n'), { cause: error })
}
