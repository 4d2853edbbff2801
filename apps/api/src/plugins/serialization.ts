import {
  type Serializer,
  type SerializerCompiler,
  SerializerSelector,
} from '@fastify/fast-json-stringify-compiler'
import fp from 'fastify-plugin'
import compression from './compression.js'

/**
 * Serializes responses with code compiled from their schemas, as Fastify does. Each schema is compiled for its first response: there
 * are hundreds, most of them refusals that all routes share, and the start would wait for all of them.
 */
export default fp(
  async (app) => {
    await app.register(compression)
    const compiled = new WeakMap<object, Serializer>()
    let compile: SerializerCompiler | undefined

    app.setSerializerCompiler<object>(({ schema, method, url, httpStatus = '' }) => (body) => {
      let serialize = compiled.get(schema)
      if (serialize === undefined) {
        compile ??= SerializerSelector()(app.getSchemas())
        serialize = compile({ schema, method, url, httpStatus })
        compiled.set(schema, serialize)
      }
      return serialize(body)
    })
  },
  { name: 'serialization' },
)
