import { ApiError, type Client, type RequestOptions } from '@automation/client'
import { CommandError } from '../command-error.js'
import { makeTool } from './tool.js'

/** The only tool that changes what people see. It replaces no draft that the assistant has not read. */
export const saveDraft = makeTool('save_draft', {
  operation: 'PUT /api/automation-rules/{id}/draft',
  description:
    'Saves the draft of a rule that exists. It does nothing until a person promotes it. If the rule has a draft, send the etag of that draft. For a new rule, show the person its definition.',
  adds: {
    etag: { type: 'string', description: 'etag of the draft to replace, as get_draft says' },
  },
  isReading: false,
  call: async (client, { path, body }, options, { etag }) => {
    if (etag === undefined) await refuseToReplace(client, path.id, options)
    const ifTag = etag === undefined ? undefined : String(etag)
    return client.rules.drafts.save(path.id, body, { ...options, ifTag })
  },
})

async function refuseToReplace(client: Client, id: string, options: RequestOptions): Promise<void> {
  try {
    const { savedAt, savedBy } = await client.rules.drafts.get(id, options)
    throw new CommandError(
      `The rule has a draft already, which ${savedBy} saved at ${savedAt}. Read it with get_draft, and send its etag to replace it.`,
    )
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'draft_not_found')) throw error
  }
}
