import { isIP } from 'node:net'
import { connections, connectionsOf, EnvironmentError, readEnvironment } from '@automation/environment'
import { Type } from 'typebox'

const Environment = Type.Object({
  ...connections,
  WORKER_CONCURRENCY: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 1_000,
    description: 'events at a time',
  }),
  DATABASE_POOL: Type.Integer({
    default: 5,
    minimum: 2,
    maximum: 200,
    description: 'connections to Postgres',
  }),
  SMTP_URL: Type.Optional(
    Type.String({ pattern: '^smtps?://', description: 'smtp://user:password@host:587' }),
  ),
  MAIL_FROM: Type.String({
    default: 'Automation rules <automation@localhost>',
    description: 'sender of every mail',
  }),
  MAIL_DIR: Type.String({
    default: '.data/mail',
    description: 'where mails are written as .eml without SMTP_URL',
  }),
  OUTBOUND_ALLOW: Type.Optional(
    Type.String({ description: 'comma-separated CIDRs of private addresses that outbound calls may reach' }),
  ),
})

export type Config = ReturnType<typeof readConfig>

/** @throws EnvironmentError that lists the faults */
export function readConfig(variables: Record<string, string | undefined> = process.env) {
  const environment = readEnvironment(Environment, variables)
  return {
    ...connectionsOf(environment),
    databasePool: environment.DATABASE_POOL,
    concurrency: environment.WORKER_CONCURRENCY,
    mail: { smtpUrl: environment.SMTP_URL, from: environment.MAIL_FROM, directory: environment.MAIL_DIR },
    outboundAllow: (environment.OUTBOUND_ALLOW?.split(',') ?? []).map(readCidr),
  }
}

export interface Cidr {
  address: string
  prefixLength: number
  family: 'ipv4' | 'ipv6'
}

function readCidr(text: string): Cidr {
  const [address = '', length] = text.trim().split('/')
  const version = isIP(address)
  const prefixLength = Number(length ?? (version === 6 ? 128 : 32))
  if (
    version === 0 ||
    !Number.isInteger(prefixLength) ||
    prefixLength < 0 ||
    prefixLength > (version === 6 ? 128 : 32)
  ) {
    throw new EnvironmentError([`OUTBOUND_ALLOW: ${text} is not a CIDR such as 10.0.0.0/8`])
  }
  return { address, prefixLength, family: version === 6 ? 'ipv6' : 'ipv4' }
}
