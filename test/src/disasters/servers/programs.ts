import { readdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { findIn } from '@automation/launcher'

interface Program {
  command: string
  title: string
  /** Of Debian. */
  aptPackage: string
}

const programs = {
  initdb: { command: 'initdb', title: 'PostgreSQL 15 or newer', aptPackage: 'postgresql' },
  postgres: { command: 'postgres', title: 'PostgreSQL 15 or newer', aptPackage: 'postgresql' },
  pgBaseBackup: { command: 'pg_basebackup', title: 'pg_basebackup', aptPackage: 'postgresql' },
  pgDump: { command: 'pg_dump', title: 'pg_dump', aptPackage: 'postgresql-client' },
  pgRestore: { command: 'pg_restore', title: 'pg_restore', aptPackage: 'postgresql-client' },
  pgRewind: { command: 'pg_rewind', title: 'pg_rewind', aptPackage: 'postgresql' },
  pgBouncer: { command: 'pgbouncer', title: 'PgBouncer 1.21 or newer', aptPackage: 'pgbouncer' },
  redisServer: { command: 'redis-server', title: 'Redis 7 or newer', aptPackage: 'redis-server' },
  socat: { command: 'socat', title: 'socat', aptPackage: 'socat' },
  haproxy: { command: 'haproxy', title: 'HAProxy', aptPackage: 'haproxy' },
  faketime: { command: 'faketime', title: 'libfaketime', aptPackage: 'faketime' },
  mount: { command: 'mount', title: 'mount', aptPackage: 'mount' },
  umount: { command: 'umount', title: 'umount', aptPackage: 'mount' },
  nft: { command: 'nft', title: 'nftables', aptPackage: 'nftables' },
  ip: { command: 'ip', title: 'iproute2', aptPackage: 'iproute2' },
  unshare: { command: 'unshare', title: 'unshare', aptPackage: 'util-linux' },
} satisfies Record<string, Program>

export type ProgramName = keyof typeof programs

/** All programs of Postgres that stand on every machine, and come from one package and one version. */
export const postgresPrograms = ['initdb', 'postgres', 'pgBaseBackup', 'pgRewind'] as const

/** A program that a disaster needs is not on this machine. */
export class MissingProgram extends Error {}

/** Debian's newest Postgres stands before that of the PATH, and its daemons are on no user's PATH. */
const postgresDirectory = '/usr/lib/postgresql'
const directories = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/**
 * Finds the paths of programs.
 *
 * @throws MissingProgram in one sentence
 */
export async function findPrograms(wanted: readonly ProgramName[]): Promise<Record<ProgramName, string>> {
  const versions = (await readdir(postgresDirectory).catch(() => [])).map(Number).sort((a, b) => b - a)
  const places = [
    ...versions.map((version) => join(postgresDirectory, `${version}`, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter).filter(Boolean),
    ...directories,
  ]
  const found: Partial<Record<ProgramName, string>> = {}
  for (const name of wanted) {
    const { command, title, aptPackage } = programs[name]
    const path = await findIn(places, command)
    if (path === undefined)
      throw new MissingProgram(
        `${title} is missing: install it (on Debian: apt-get install ${aptPackage}), or put ${command} on the PATH.`,
      )
    found[name] = path
  }
  return found as Record<ProgramName, string>
}
