import type { ServerUser } from '../binaries/server-user.js'
import { CannotStart } from '../cannot-start.js'
import { quoteForShell } from '../quote-for-shell.js'

/** The refusal to open data of another major version of Postgres, with the commands that take it along. */
export function refuseOtherMajor(options: {
  home: string
  ofData: number
  found: number
  user: ServerUser | undefined
}): CannotStart {
  const { home, ofData, found, user } = options
  const connection = '--host=127.0.0.1 --username=postgres'
  return new CannotStart(
    `The data in ${home}/data is of PostgreSQL ${ofData}. PostgreSQL ${found} is here and cannot read it; nothing was changed.
Put the bin directory of PostgreSQL ${ofData} on the PATH and start again. Or take the data along, with the programs of
PostgreSQL ${ofData}${user === undefined ? '' : ` (pg_ctl as the user ${user.name})`}:

  cd ${quoteForShell(home)}
  export PGPASSWORD="$(cat password)"
  pg_ctl -D data -w -o "-p 5499 -c listen_addresses=127.0.0.1 -c unix_socket_directories=" start
  pg_dump ${connection} --port=5499 --format=custom --file=automation.dump postgres
  pg_ctl -D data stop
  mv data data-${ofData}

Run npm start, and while it runs, in another terminal:

  cd ${quoteForShell(home)}
  export PGPASSWORD="$(cat password)"
  pg_restore ${connection} --port="$(cat port)" --clean --if-exists --single-transaction --dbname=postgres automation.dump

Then stop it and run npm start once more.`,
  )
}
