import { connections, consoleSettings, sealing, tokenSettings } from '@automation/process/settings'

/** What the commands read from the environment, for their help. */
const variables = {
  DATABASE_URL: `${describe(connections.DATABASE_URL)} (default: the database of the product that npm start runs)`,
  OLD_DATABASE_URL: 'the same of the old primary',
  TARGET_DATABASE_URL: 'the same of the installation that the workspace moves to',
  REDIS_URL: `${describe(connections.REDIS_URL)}; if it is not set, Redis is not looked at`,
  QUEUE_PREFIX: describe(connections.QUEUE_PREFIX),
  ENCRYPTION_KEY: describe(sealing.ENCRYPTION_KEY),
  JWT_SECRET: describe(tokenSettings.JWT_SECRET),
  JWKS_URL: `${describe(tokenSettings.JWKS_URL)}; if it is set, no token can be created here`,
  JWT_ISSUER: describe(tokenSettings.JWT_ISSUER),
  JWT_AUDIENCE: describe(tokenSettings.JWT_AUDIENCE),
  CONSOLE_SECRET: describe(consoleSettings.CONSOLE_SECRET),
  CONSOLE_URL: describe(consoleSettings.CONSOLE_URL),
  WEBHOOK_SECRET: 'the signing secret, whsec_… (default: that of the demo that npm start runs)',
  RULES_URL: 'URL of the product, such as http://127.0.0.1:3000 (default: the demo that npm start runs)',
  RULES_TOKEN: 'JSON Web Token of a user, or API key of a program (default: the token of the demo’s admin)',
  SHELL: 'the shell of the user',
  RULES_WORKSPACE: 'id of the workspace; an API key needs none (default: the workspace of the demo)',
}

export type VariableName = keyof typeof variables

export const describeVariable = (name: VariableName): string => variables[name]

function describe(schema: object): string {
  const { description = '', default: value } = schema as { description?: string; default?: unknown }
  return value === undefined ? description : `${description} (default: ${value})`
}
