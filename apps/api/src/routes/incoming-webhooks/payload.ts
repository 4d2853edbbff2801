import { type Fault, mayHaveLongNumber, readJson } from '@automation/engine'
import { type BodyForm, nestForm, readForm } from '@automation/webhooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal, refusals } from '../../errors.js'
import { warnOfTexts } from '../../long-numbers.js'
import { decodeBody, findUnstorableValues } from '../../plugins/bodies.js'
import { DeliveryRefusal, type IncomingDelivery } from './delivery.js'

/** The JSON of a delivery, and what of it is stored in another form. */
export interface Payload {
  payload: unknown
  warnings?: Fault[]
}

/**
 * Reads JSON of any shape, or a form.
 *
 * @throws DeliveryRefusal: 400 where it is none, 415 where the sender's scheme has no body of its kind, 422 where it cannot be stored
 */
export function createPayloadReader(app: FastifyInstance) {
  const parse = app.getDefaultJsonParser('error', 'error')
  return (
    request: FastifyRequest,
    { body, isForm }: IncomingDelivery,
    forms: readonly BodyForm[],
  ): Payload => {
    const isReadable = isForm ? forms.some((form) => form !== 'json') : forms.includes('json')
    if (!isReadable)
      throw new DeliveryRefusal('content_type', isForm ? refusals.notJson() : refusals.notForm())
    try {
      if (!isForm) return readStorable(request, decodeBody(body))
      const read = readFormBody(request, body, forms)
      const limit = request.routeOptions.bodyLimit
      if (weighForm(read.payload) > limit) throw refusals.bodyTooLarge(limit)
      return read
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      throw new DeliveryRefusal(error.statusCode === 413 ? 'size' : 'body', error)
    }
  }

  function readFormBody(request: FastifyRequest, body: Buffer, forms: readonly BodyForm[]): Payload {
    const fields = readForm(body)
    if (fields === undefined) throw refusals.bodyNotForm()
    const { payload } = fields
    if (forms.includes('form:payload') && typeof payload === 'string') return readStorable(request, payload)
    if (!forms.includes('form')) throw refusals.bodyNotForm()
    const nested = nestForm(fields)
    const faults = findUnstorableValues(nested)
    if (faults.length > 0) throw refusals.invalid(faults)
    return { payload: nested }
  }

  function readStorable(request: FastifyRequest, text: string): Payload {
    let payload: unknown
    // It calls back before it returns.
    parse(request, text, (error, value) => {
      if (error) throw refusals.bodyNotJson(text)
      payload = value
    })
    const faults = findUnstorableValues(payload)
    if (faults.length > 0) throw refusals.invalid(faults)
    if (!mayHaveLongNumber(text)) return { payload }
    const { value, longNumbers } = readJson(text)
    return { payload: value, ...warnOfTexts(longNumbers) }
  }
}

/** The bytes of its JSON, which is what is stored: a control character of one byte takes six. */
export function weighForm(payload: unknown): number {
  return Buffer.byteLength(JSON.stringify(payload))
}

export type ReadPayload = ReturnType<typeof createPayloadReader>
