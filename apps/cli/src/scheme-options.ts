import { readFileSync } from 'node:fs'
import { compileShape, uncapitalize } from '@automation/engine'
import { SchemeName, SchemeSettings } from '@automation/webhooks'
import type { Type } from 'typebox'
import { CommandError, usageError } from './command-error.js'
import { decodeText } from './read-text.js'

/** What a webhook of each scheme looks like, if none is given. */
export const sampleWebhooks: Readonly<Record<SchemeName, { type: string; body: string; isForm?: true }>> = {
  automation: { type: '', body: '{"type":"lead.created","data":{"name":"Ada","score":95}}' },
  standard_webhooks: {
    type: 'invoice.paid',
    body: '{"type":"invoice.paid","timestamp":"2026-01-01T00:00:00Z","data":{"id":"inv_1","amount":120}}',
  },
  stripe: {
    type: 'payment_intent.payment_failed',
    body: '{"id":"evt_sample","type":"payment_intent.payment_failed","data":{"object":{"id":"pi_1","amount":12000,"currency":"eur","last_payment_error":{"message":"Your card was declined."}}}}',
  },
  github: {
    type: 'issues',
    body: '{"action":"opened","issue":{"number":1,"title":"It does not start","html_url":"https://github.com/ada/engine/issues/1"},"repository":{"full_name":"ada/engine"},"sender":{"login":"ada"}}',
  },
  shopify: {
    type: 'orders/create',
    body: '{"id":1001,"email":"ada@example.com","total_price":"120.00","currency":"EUR"}',
  },
  slack: {
    type: 'message',
    body: '{"type":"event_callback","event_id":"Ev_sample","event":{"type":"message","text":"Hello","user":"U1"}}',
  },
  twilio: {
    type: '',
    body: 'MessageSid=SM_sample&MessageStatus=delivered&To=%2B15551234567&From=%2B15557654321',
    isForm: true,
  },
  zoom: {
    type: 'meeting.ended',
    body: '{"event":"meeting.ended","event_ts":1767225600000,"payload":{"object":{"id":"123","topic":"Demo"}}}',
  },
  meta: {
    type: 'messages',
    body: '{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messages":[{"id":"wamid.1","from":"15551234567","text":{"body":"Hello"}}]}}]}]}',
  },
  generic: { type: 'thing.happened', body: '{"type":"thing.happened","id":"1"}' },
}

export const schemeOptions = {
  scheme: `how the provider signs: ${SchemeName.enum.join(', ')} (default: automation)`,
  settings: 'JSON with the settings of the scheme, such as types, publicUrl or signatureHeader',
}

/** @throws CommandError where it is no JSON of settings */
export function readSettings(text: string): Type.Static<typeof SchemeSettings> {
  let settings: unknown
  try {
    settings = JSON.parse(text)
  } catch {
    throw usageError('--settings must be JSON, such as {"publicUrl":"https://example.com/hook"}.')
  }
  const [fault] = compileShape(SchemeSettings)(settings)
  if (fault) throw usageError(`--settings: ${fault.field || 'it'} ${uncapitalize(fault.message)}.`)
  return settings as Type.Static<typeof SchemeSettings>
}

/** Reads a secret from a file: on the command line it would be visible in the list of processes. */
export function readSecretFile(path: string): string {
  try {
    return decodeText(readFileSync(path), path).trim()
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`--secret-file cannot be read: ${(error as Error).message}.`, { cause: error })
  }
}
