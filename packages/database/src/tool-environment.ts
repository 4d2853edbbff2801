import pg from 'pg'

/**
 * A URL as the variables that the programs of Postgres read, such as pg_dump. An argument would show its password to everybody on the machine, and
 * they refuse parameters of ours.
 *
 * @param trustedFile certificates that Node trusts beside its own
 */
export function toolEnvironment(url: string, trustedFile?: string): Record<string, string> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: withoutFiles(url) })
  const { searchParams } = new URL(url)
  const certificates = searchParams.get('sslrootcert')
  const sslMode = modeOf(searchParams)
  const variables = {
    PGHOST: host,
    PGPORT: `${port}`,
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
    PGSSLMODE: sslMode,
    // libpq looks into a file of the user that hardly anybody has. `system` are the certificates of the machine.
    PGSSLROOTCERT: certificates ?? (sslMode === 'verify-full' ? (trustedFile ?? 'system') : undefined),
    PGSSLCERT: searchParams.get('sslcert'),
    PGSSLKEY: searchParams.get('sslkey'),
  }
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** The driver reads the files of certificates at once. */
function withoutFiles(text: string): string {
  const url = new URL(text)
  for (const name of ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']) url.searchParams.delete(name)
  return url.href
}

/** What the driver does for a mode (docs/operate/processes.md), in the words of libpq. */
function modeOf(searchParams: URLSearchParams): string {
  const mode = searchParams.get('sslmode') ?? 'disable'
  if (mode === 'disable' || searchParams.get('uselibpqcompat') === 'true') return mode
  return mode === 'no-verify' ? 'require' : 'verify-full'
}
