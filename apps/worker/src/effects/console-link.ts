import { isUuid } from '@automation/database'
import type { LoadedEvent } from '@automation/ledger'

/** Where the console shows what an event of the service is about; undefined where nothing does. @param consoleUrl without a path */
export function linkToConsole(
  consoleUrl: string,
  { workspaceId, type, data }: Pick<LoadedEvent, 'workspaceId' | 'type' | 'data'>,
): string | undefined {
  const screen = findScreen(type, data as { ruleId?: unknown; executionId?: unknown })
  return screen === undefined ? undefined : `${consoleUrl.replace(/\/$/, '')}/w/${workspaceId}/${screen}`
}

function findScreen(
  type: string,
  { ruleId, executionId }: { ruleId?: unknown; executionId?: unknown },
): string | undefined {
  if (type === 'receipt.rejected') return 'webhooks?state=rejected'
  if (isUuid(executionId)) return `executions?id=${executionId}`
  if (type !== 'rule.deleted' && isUuid(ruleId)) return `rules/${ruleId}`
  return undefined
}
