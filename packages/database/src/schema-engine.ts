import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'

export const prismaDirectory = fileURLToPath(new URL('../../../../prisma', import.meta.url))

/**
 * Prisma's own schema engine, run as WebAssembly: the same ledger (`_prisma_migrations`) and rules as
 * `prisma migrate`, but nothing is downloaded. The package's entry expects a bundler that links `.wasm`
 * imports; here its two halves are joined by hand.
 *
 * The engine takes Prisma's advisory lock and leaves its release to the end of the connection. So there is exactly
 * one connection, and it ends with `use`: the next migrator must not wait for an idle one.
 */
export async function withSchemaEngine<Result>(
  databaseUrl: string,
  use: (engine: bindings.SchemaEngine) => Promise<Result>,
): Promise<Result> {
  await linkWebAssembly()
  const schema = await readFile(`${prismaDirectory}/schema.prisma`, 'utf8')
  const pool = new pg.Pool({
    connectionString: databaseUrl,
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

// Node has it, but its type comes only with the browser's libraries.
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>
}

let linked: Promise<void> | undefined

function linkWebAssembly(): Promise<void> {
  linked ??= (async () => {
    const entry = import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    const wasm = await readFile(new URL('schema_engine_bg.wasm', entry))
    const { instance } = await WebAssembly.instantiate(wasm, {
      './schema_engine_bg.js': { ...bindings, ...timeoutThatKeepsNobody() },
    })
    bindings.__wbg_set_wasm(instance.exports)
    ;(instance.exports.__wbindgen_start as () => void)()
  })()
  return linked
}

/** The engine leaves its ten seconds' limit for the lock ticking when it is done; that must not keep a process alive. */
function timeoutThatKeepsNobody(): object {
  const name = Object.keys(bindings).find((key) => key.startsWith('__wbg_setTimeout_'))
  if (name === undefined) return {}
  return { [name]: (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref() }
}
