import t from 'tap'
import type { Document, Schema } from '../../src/openapi/document.js'
import { nameSchemas } from '../../src/openapi/name-schemas.js'

const pet: Schema = { title: 'Pet', type: 'object', properties: { title: { type: 'string' } } }

function documentOf(...schemas: Schema[]): Document {
  const content = Object.fromEntries(schemas.map((schema, index) => [`type/${index}`, { schema }]))
  return { paths: { '/pets': { get: { responses: { 200: { content } } } } }, components: { schemas: {} } }
}

function schemasIn(document: Document): Schema[] {
  const content = document.paths['/pets']?.get?.responses[200]?.content ?? {}
  return Object.values(content).map(({ schema }) => schema)
}

t.test('a schema with a title becomes a component, wherever it stands', async (t) => {
  const document = documentOf(pet, { type: 'array', items: pet })
  nameSchemas(document)
  const { title: _, ...component } = pet
  t.strictSame(document.components.schemas, { Pet: component })
  const reference = { $ref: '#/components/schemas/Pet' }
  t.strictSame(schemasIn(document), [reference, { type: 'array', items: reference }])
})

t.test('a component has the first description, and another one stays beside its reference', async (t) => {
  const document = documentOf(pet, { ...pet, description: 'An animal' }, { ...pet, description: 'A cat' })
  nameSchemas(document)
  t.equal(document.components.schemas.Pet?.description, 'An animal')
  t.strictSame(
    schemasIn(document).map(({ description }) => description),
    [undefined, undefined, 'A cat'],
  )
})

t.test('two different schemas cannot have the same title', async (t) => {
  t.throws(() => nameSchemas(documentOf(pet, { title: 'Pet', type: 'string' })), /Pet/)
})

t.test('a title in an example is data', async (t) => {
  const examples = [{ title: 'Call' }]
  const document = documentOf({ type: 'object', examples } as Schema)
  nameSchemas(document)
  t.strictSame(document.components.schemas, {})
  t.match(schemasIn(document), [{ examples }])
})

t.test('a property may be called example, properties or title', async (t) => {
  const document = documentOf({ type: 'object', properties: { example: pet, properties: pet, title: pet } })
  nameSchemas(document)
  const reference = { $ref: '#/components/schemas/Pet' }
  t.match(schemasIn(document), [
    { properties: { example: reference, properties: reference, title: reference } },
  ])
})

t.test('an enum of texts gets a type', async (t) => {
  const document = documentOf({ enum: ['a', 'b'] }, { enum: [1, 'a'] }, { title: 'Letter', enum: ['a'] })
  nameSchemas(document)
  const [texts, mixed] = schemasIn(document)
  t.strictSame(texts, { type: 'string', enum: ['a', 'b'] })
  t.strictSame(mixed, { enum: [1, 'a'] })
  t.strictSame(document.components.schemas.Letter, { type: 'string', enum: ['a'] })
})
