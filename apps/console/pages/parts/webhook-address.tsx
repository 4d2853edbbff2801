import { addressOfWebhooks } from '../logic/webhook-address.js'
import { apiUrl, workspaceId } from '../state/session.js'
import { CopyButton } from './json-view.js'

/** The address that is entered at a provider. */
export function WebhookAddress({ provider }: { provider: string }) {
  const address = addressOfWebhooks(apiUrl.value, workspaceId.value ?? '', provider)
  return (
    <span>
      <code>{address}</code> <CopyButton text={address} label="Copy the address" />
    </span>
  )
}
