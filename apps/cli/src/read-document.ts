import { readFile } from 'node:fs/promises'

// This file stands as deep as the bundle that it becomes part of, so the same path leads to docs from both.
const docs = new URL('../../../../docs/', import.meta.url)

/** Reads a generated document, such as `openapi.json`. */
export async function readDocument<Document>(name: string): Promise<Document> {
  return JSON.parse(await readFile(new URL(name, docs), 'utf8')) as Document
}
