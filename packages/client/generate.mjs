// npm run generate: writes the types of src/generated from docs/openapi.json; with --check it only checks that they are current.
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript'
import ts from 'typescript'

const { factory } = ts
const document = new URL('../../docs/openapi.json', import.meta.url)

const nodes = await openapiTS(document, {
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
  emptyObjectsUnknown: true,
  defaultNonNullable: false,
  transform: ({ 'x-extensible-enum': known }) => (known === undefined ? undefined : writeOpenUnion(known)),
})
const nouns = Object.keys(JSON.parse(await readFile(document, 'utf8')).components.schemas).sort()
await put('api.ts', `${COMMENT_HEADER}${astToString(nodes)}`)
await put('nouns.ts', `export type {\n${nouns.map((noun) => `  ${noun},\n`).join('')}} from './api.js'\n`)

async function put(name, text) {
  const output = new URL(`src/generated/${name}`, import.meta.url)
  if (!process.argv.includes('--check')) await writeFile(output, text)
  else if ((await readFile(output, 'utf8').catch(() => undefined)) !== text) {
    console.error(`src/generated/${name} is out of date`)
    process.exitCode = 1
  }
}

/** Writes `"A" | "B" | (string & {})`: any text is valid, and an editor still completes the known ones. `string` alone would swallow them. */
function writeOpenUnion(known) {
  const literals = known.map((value) => factory.createLiteralTypeNode(factory.createStringLiteral(value)))
  const text = factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword)
  const anyText = factory.createIntersectionTypeNode([text, factory.createTypeLiteralNode([])])
  return factory.createUnionTypeNode([...literals, factory.createParenthesizedType(anyText)])
}
