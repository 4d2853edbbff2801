/** Where a provider posts its webhooks. @param api the address of the API; '' if it is not known */
export function addressOfWebhooks(api: string, workspaceId: string, provider: string): string {
  return `${api}/api/incoming-webhooks/${provider}/${workspaceId}`
}
