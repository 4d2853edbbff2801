// npm run generate: writes the types of src/generated/api.ts from docs/openapi.json; with --check it only checks that they are current.
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript'
import ts from 'typescript'

const { factory } = ts
const output = new URL('src/generated/api.ts', import.meta.url)

const nodes = await openapiTS(new URL('../../docs/openapi.json', import.meta.url), {
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
  emptyObjectsUnknown: true,
  defaultNonNullable: false,
  transform: ({ 'x-extensible-enum': known }) => (known === undefined ? undefined : writeOpenUnion(known)),
})
const types = `${COMMENT_HEADER}${astToString(nodes)}`

if (!process.argv.includes('--check')) await writeFile(output, types)
else if ((await readFile(output, 'utf8')) !== types) {
  console.error('src/generated/api.ts is out of date')
  process.exitCode = 1
}

/** Writes `"A" | "B" | (string & {})`: any text is valid, and an editor still completes the known ones. `string` alone would swallow them. */
function writeOpenUnion(known) {
  const literals = known.map((value) => factory.createLiteralTypeNode(factory.createStringLiteral(value)))
  const text = factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword)
  const anyText = factory.createIntersectionTypeNode([text, factory.createTypeLiteralNode([])])
  return factory.createUnionTypeNode([...literals, factory.createParenthesizedType(anyText)])
}
