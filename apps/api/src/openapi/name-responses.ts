import { type Document, listOperations, type Response } from './document.js'

/** The components of error responses. */
export const refusalNames: Record<string, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
}
const errorSchemas = new Set(['#/components/schemas/Error', '#/components/schemas/ValidationError'])
/** For responses that say nothing of their own. */
const descriptions: Record<string, string> = { 200: 'Success', 201: 'Created', 202: 'Accepted', 204: 'Done' }

/**
 * Moves the shared error responses to the components, and describes the others. It runs after the schemas have names.
 *
 * @throws Error if the error responses of one status differ
 */
export function nameResponses(document: Document): void {
  const shared: Record<string, Response> = {}
  for (const { responses } of listOperations(document))
    for (const [status, response] of Object.entries(responses)) {
      const name = isError(response) ? refusalNames[status] : undefined
      if (name === undefined) {
        const isSilent = response.description === 'Default Response'
        responses[status] = isSilent
          ? { ...response, description: descriptions[status] ?? 'Response' }
          : response
        continue
      }
      shared[name] ??= response
      if (JSON.stringify(shared[name]) !== JSON.stringify(response))
        throw new Error(`The error responses with status ${status} differ`)
      responses[status] = { $ref: `#/components/responses/${name}` }
    }
  const order = Object.values(refusalNames).filter((name) => shared[name] !== undefined)
  document.components.responses = Object.fromEntries(order.map((name) => [name, shared[name] as Response]))
}

function isError({ content }: Response): boolean {
  return errorSchemas.has(content?.['application/json']?.schema.$ref ?? '')
}
