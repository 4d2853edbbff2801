import { defineConfig } from 'prisma/config'

// `generate`, `validate` and `format` never run Prisma's schema engine, yet the CLI downloads it before them.
// Naming any executable stops the download, so a build works without internet access. Commands that do need
// the engine (`prisma migrate …`) still fetch the real one; the project itself migrates with `npm run migrate`.
if (process.argv.some((word) => ['generate', 'validate', 'format'].includes(word))) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(process.env.DATABASE_URL ? { datasource: { url: process.env.DATABASE_URL } } : {}),
})
