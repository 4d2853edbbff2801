import { migrate } from './migrate.js'

const databaseUrl = process.env.DATABASE_URL
if (!databaseUrl) {
  console.error(
    'Set DATABASE_URL to the database to migrate, as in postgresql://user:password@host:5432/name',
  )
  process.exit(1)
}
const applied = await migrate(databaseUrl).catch((error: Error) => {
  console.error(`The database could not be migrated: ${error.message}`)
  process.exit(1)
})
console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`)
