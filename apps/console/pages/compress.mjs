// Compresses the built files once, so that the console does not compress each response.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('../dist/public/', import.meta.url))
for (const file of readdirSync(root, { recursive: true })) {
  if (!/\.(js|css|svg)$/.test(file)) continue
  const content = readFileSync(root + file)
  writeFileSync(`${root}${file}.gz`, gzipSync(content, { level: 9 }))
  writeFileSync(`${root}${file}.br`, brotliCompressSync(content))
}
