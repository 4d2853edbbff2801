import { readFileSync } from 'node:fs'
import type { Document, Operation } from './document.js'
import { refer } from './headers.js'

/** Requests and responses of a test (apps/api/test/recordings.test.ts), by operation; and events of the service, by type. */
interface Recordings {
  operations: Record<string, Recording>
  webhooks: Record<string, object>
}

interface Recording {
  request?: object
  responses: Record<string, { headers?: string[]; body?: object }>
}

/** As seen from apps/api/dist/src/openapi. It is read where the document is made: in tests, and by `npm run openapi`. */
export const recordingsFile = new URL('../../../recordings.json', import.meta.url)

export function readRecordings(): Recordings {
  return JSON.parse(readFileSync(recordingsFile, 'utf8')) as Recordings
}

/** Gives each operation the example of its body, and each success the example and the headers that it had. */
export function addExamples({ paths }: Document, { operations }: Recordings): void {
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path.replace(/(?<=.)\/$/, '')}`
      const recording = operations[name]
      if (recording !== undefined) addRecording(operation, recording)
    }
}

function addRecording({ requestBody, responses }: Operation, recording: Recording): void {
  const asked = requestBody?.content['application/json']
  if (asked && recording.request) asked.example = recording.request
  for (const [status, { headers = [], body }] of Object.entries(recording.responses)) {
    const response = responses[status]
    const said = response?.content?.['application/json']
    if (said && body) said.example = body
    if (response) refer(response, headers)
  }
}
