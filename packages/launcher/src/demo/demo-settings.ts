import { networkInterfaces } from 'node:os'
import { findGoneSettings } from '@automation/process/settings'
import { CannotStart } from '../cannot-start.js'
import { everywhere } from '../servers/ports.js'

// The settings of .env.example that change the demo and reach nothing outside that its own rules do not call.
const tuning = [
  ...['LOG_LEVEL', 'METRICS_PORT', 'BODY_LIMIT', 'TRUST_PROXY', 'DATABASE_POOL', 'DRAIN_SECONDS'],
  ...['RATE_LIMIT_ANONYMOUS', 'RATE_LIMIT_AUTHENTICATED', 'RATE_LIMIT_ENTERPRISE'],
  ...['QUEUES', 'WORKER_CONCURRENCY', 'MAIL_FROM', 'BOARD_WRITES', 'EMBED_ORIGINS'],
  ...['OUTBOUND_ALLOW', 'OUTBOUND_PORTS', 'OUTBOUND_HOSTS', 'OUTBOUND_CONCURRENCY'],
]
/** The settings that belong to a product in production, with what the demo does instead. */
const refused: Record<string, string> = {
  CONSOLE_URL: 'its console is on 127.0.0.1',
  CONSOLE_SECRET: 'it keeps a secret of its own',
  CONSOLE_API_URL: 'its console uses its API',
  CONSOLE_TRUST_BEARER: 'it has no proxy',
  CONSOLE_OIDC_ISSUER: 'it signs its own tokens',
  CONSOLE_OIDC_CLIENT_ID: 'it signs its own tokens',
  CONSOLE_OIDC_CLIENT_SECRET: 'it signs its own tokens',
  CONSOLE_OIDC_SCOPE: 'it signs its own tokens',
  SMTP_URL: 'mails are written to files',
  RETENTION_DAYS: 'it keeps its history for the default time',
  QUEUE_PREFIX: 'its queue has a name of its own',
  JWKS_URL: 'it signs its own tokens',
  JWT_ISSUER: 'it signs its own tokens',
  JWT_AUDIENCE: 'it signs its own tokens',
}

/** What `npm start` takes over from the shell, for API, worker and board. */
export interface DemoSettings {
  /** The address on which API and board listen. */
  host: string
  env: Record<string, string>
  /** One sentence for each variable that the demo does not follow. */
  remarks: string[]
}

/** @throws CannotStart if a variable is a setting that is gone */
export function readDemoSettings(variables: NodeJS.ProcessEnv): DemoSettings {
  const gone = findGoneSettings(variables)
  if (gone.length > 0) throw new CannotStart(gone.map((parts) => parts.join(' ')).join('\n'))
  const set = Object.entries(variables).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const isTuning = (name: string) => tuning.includes(name) || name.startsWith('OTEL_')
  const ignored = set.flatMap(([name]) =>
    refused[name] === undefined ? [] : [`${name} is not used by the demo: ${refused[name]}.`],
  )
  const { HOST: host = '' } = variables
  const isUsable = host === '' || isAddressHere(host)
  const remark = `HOST is ${host}, which is no address of this machine: API and board listen on 127.0.0.1.`
  return {
    host: isUsable && host !== '' ? host : '127.0.0.1',
    env: Object.fromEntries(set.filter(([name]) => isTuning(name))),
    remarks: isUsable ? ignored : [...ignored, remark],
  }
}

/** Some shells and compilers export HOST as the name of a machine or of a platform. */
function isAddressHere(host: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address))
  return host === 'localhost' || everywhere.includes(host) || own.includes(host)
}
