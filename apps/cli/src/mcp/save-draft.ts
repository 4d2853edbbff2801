import { ApiError, type Client, type RequestOptions } from '@automation/client'
import { CommandError } from '../command-error.js'
import { makeTool } from './tool.js'

/** The only tool that changes what people see. It replaces no draft that the assistant has not read. */
export const saveDraft = makeTool(
  'save_draft',
  'PUT /api/automation-rules/{id}/draft',
  'Saves the draft of a rule that exists. It does nothing until a person promotes it. If the rule has a draft, send the etag of that draft. For a new rule, show the person its definition.',
  {
    adds: {
      etag: { type: 'string', description: 'etag of the draft to replace, as get_draft says' },
    },
    isReading: false,
    call: async (client, { path: { id = '' }, body }, options, { etag }) => {
      const draft = body as unknown as Draft
      if (etag === undefined) return saveFirst(client, id, draft, options)
      const ifTag = String(etag)
      // In If-Match it fits every draft.
      if (ifTag.trim() === '*')
        throw new CommandError('etag must be that of the draft: read it with get_draft.')
      return client.rules.drafts.save(id, draft, { ...options, ifTag })
    },
  },
)

type Draft = Parameters<Client['rules']['drafts']['save']>[1]

/** Saves under the ETag of the rule, which fits only as long as it has no draft: somebody may save one at the same time. */
async function saveFirst(client: Client, id: string, draft: Draft, options: RequestOptions) {
  const { version } = await client.rules.get(id, options)
  try {
    return await client.rules.drafts.save(id, draft, { ...options, ifTag: `"${version}"` })
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error
    throw new CommandError(
      'The rule has a draft already, or has just changed. Read its draft with get_draft, and send its etag to replace it.',
    )
  }
}
