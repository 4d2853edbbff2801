import { fileURLToPath } from 'node:url'
import type { Docs } from './docs-pages.js'

/** A thread that has not rendered by then (ms) never will. */
const longestMs = 30_000

/**
 * Renders what /docs serves in a thread that ends with it: it loads 300 modules and takes a second, for which the process would respond to
 * nobody.
 */
export async function renderInThread(): Promise<Docs> {
  const { Piscina } = await import('piscina')
  const pool = new Piscina({
    // Beside this module where each has a file, and beside the bundle (scripts/bundle.mjs).
    filename: fileURLToPath(new URL('./render-docs.js', import.meta.url)),
    minThreads: 0,
    maxThreads: 1,
    recordTiming: false,
  })
  // What ends the thread rejects its task, or the time is over.
  pool.on('error', () => {})
  try {
    const docs = (await pool.run(undefined, {
      name: 'renderDocs',
      signal: AbortSignal.timeout(longestMs),
    })) as Docs
    for (const { plain, gzip } of [...Object.values(docs.pages), docs.missing]) {
      plain.body = asBuffer(plain.body)
      gzip.body = asBuffer(gzip.body)
    }
    return docs
  } finally {
    await pool.destroy()
  }
}

/** A thread returns a buffer as a plain array of bytes, which may be a part of a larger one. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
