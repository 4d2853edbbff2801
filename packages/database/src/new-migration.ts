import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { diffSchemas } from './diff-schemas.js'
import { findMigrationFaults } from './find-migration-faults.js'
import { listMigrations, readMigration } from './migrations.js'
import { prismaDirectory } from './schema-engine.js'
import { splitMigration } from './split-migration.js'

// npm run migration [-- <name>]: the SQL that changes the committed prisma/schema.prisma into the one on disk. With a name it becomes migrations;
// without one it is printed, for the first migration, which is edited until the first tagged release.
const name = process.argv[2]
if (name !== undefined && !/^[a-z][a-z0-9_]*$/.test(name))
  exit('Name the migration in lower_snake_case, as in: npm run migration -- add_labels')

const committed = execFileSync('git', ['show', 'HEAD:prisma/schema.prisma'], {
  encoding: 'utf8',
  cwd: prismaDirectory,
})
const current = await readFile(`${prismaDirectory}/schema.prisma`, 'utf8')
const sql = await diffSchemas(process.env.DATABASE_URL ?? '', committed, current)
if (/^(--.*|\s*)$/.test(sql)) exit('prisma/schema.prisma has not changed since the last commit.')

if (name === undefined) console.log(sql)
else await writeMigrations(name, sql)

async function writeMigrations(name: string, sql: string): Promise<void> {
  const now = Date.now()
  const earlier = await Promise.all(
    (await listMigrations()).map(async (one) => (await readMigration(one)).sql),
  )
  for (const [index, step] of splitMigration(sql).entries()) {
    // Migrations are applied in the order of their names.
    const timestamp = new Date(now + index * 1_000).toISOString().replaceAll(/\D/g, '').slice(0, 14)
    const directory = `${timestamp}_${name}${step.suffix}`
    await mkdir(`${prismaDirectory}/migrations/${directory}`)
    await writeFile(`${prismaDirectory}/migrations/${directory}/migration.sql`, step.sql)
    console.log(`Wrote prisma/migrations/${directory}/migration.sql`)
    for (const fault of await findMigrationFaults(step.sql, earlier)) {
      console.error(`  ${fault}`)
      process.exitCode = 1
    }
    earlier.push(step.sql)
  }
  console.log(
    'Read the SQL before you commit it. Its rules, and how a statement is exempted, stand in docs/operate/upgrade.md.',
  )
}

function exit(message: string): never {
  console.error(message)
  process.exit(1)
}
