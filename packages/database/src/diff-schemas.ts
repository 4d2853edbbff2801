import { withSchemaEngine } from './schema-engine.js'

/**
 * Writes the SQL that changes one Prisma schema into another; an empty one where `from` is omitted. The engine requires a live
 * connection, though the result does not depend on it.
 */
export async function diffSchemas(
  databaseUrl: string,
  from: string | undefined,
  to: string,
): Promise<string> {
  const target = (content: string) => ({
    tag: 'schemaDatamodel' as const,
    files: [{ path: 'schema.prisma', content }],
  })
  const { stdout } = await withSchemaEngine(databaseUrl, (engine) =>
    engine.diff({
      from: from === undefined ? { tag: 'empty' } : target(from),
      to: target(to),
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    }),
  )
  return stdout ?? ''
}
