import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { nameSslMode } from './ssl-mode.js'

export const prismaDirectory = fileURLToPath(new URL('../../../../prisma', import.meta.url))

/**
 * Runs Prisma's own schema engine as WebAssembly, which downloads nothing. The package's entry expects a bundler that links `.wasm`
 * imports; this function links its two halves itself. It works out the SQL of a migration (diff-schemas.ts), and applies none.
 */
export async function withSchemaEngine<Result>(
  databaseUrl: string,
  use: (engine: bindings.SchemaEngine) => Promise<Result>,
): Promise<Result> {
  await linkWebAssembly()
  const schema = await readFile(`${prismaDirectory}/schema.prisma`, 'utf8')
  const pool = new pg.Pool({
    connectionString: nameSslMode(databaseUrl),
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 10_000,
  })
  try {
    const engine = await bindings.SchemaEngine.new(
      { datamodels: [['schema.prisma', schema]] },
      () => {},
      bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool)),
    )
    return await use(engine)
  } finally {
    await pool.end()
  }
}

// Node has WebAssembly, but its type is declared in the browser's libraries only.
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>
}

let linked: Promise<void> | undefined

function linkWebAssembly(): Promise<void> {
  linked ??= (async () => {
    const entry = import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    const wasm = await readFile(new URL('schema_engine_bg.wasm', entry))
    const { instance } = await WebAssembly.instantiate(wasm, {
      './schema_engine_bg.js': { ...bindings, ...unrefTimeout() },
    })
    bindings.__wbg_set_wasm(instance.exports)
    ;(instance.exports.__wbindgen_start as () => void)()
  })()
  return linked
}

/** The engine does not clear its timeout of 10 s for the lock when it is done. The timer must not keep the process alive. */
function unrefTimeout(): object {
  const name = Object.keys(bindings).find((key) => key.startsWith('__wbg_setTimeout_'))
  if (name === undefined) return {}
  return { [name]: (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref() }
}
