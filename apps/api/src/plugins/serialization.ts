import {
  type Serializer,
  type SerializerCompiler,
  SerializerSelector,
} from '@fastify/fast-json-stringify-compiler'
import fp from 'fastify-plugin'

/**
 * Answers are written by code that is made from their schemas, as Fastify does it, but only when the first one of its kind
 * is to be sent: there are hundreds, most of them refusals that all routes share, and a start would wait for them all.
 */
export default fp(
  async (app) => {
    const made = new WeakMap<object, Serializer>()
    let compile: SerializerCompiler | undefined

    app.setSerializerCompiler<object>(({ schema, method, url, httpStatus = '' }) => (body) => {
      let serialize = made.get(schema)
      if (serialize === undefined) {
        compile ??= SerializerSelector()(app.getSchemas())
        serialize = compile({ schema, method, url, httpStatus })
        made.set(schema, serialize)
      }
      return serialize(body)
    })
  },
  { name: 'serialization' },
)
