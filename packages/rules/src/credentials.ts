import { type Administrator, type Credential, changeWorkspace, Refused } from '@automation/access'
import { Prisma, type WorkspaceDatabase, type WorkspaceTransaction } from '@automation/database'
import { type Action, type Fault, findCredentialWarnings, listCredentialUses } from '@automation/engine'

/**
 * Deletes a credential. Executions that began with an earlier version of a rule may still name it: their call fails.
 *
 * @throws Refused where there is no such credential, or an active rule or a draft uses it
 */
export function deleteCredential(administrator: Administrator, name: string): Promise<void> {
  const { workspaceId } = administrator
  return changeWorkspace(administrator, async (transaction) => {
    const { count } = name.includes('\0')
      ? { count: 0 }
      : await transaction.credential.deleteMany({ where: { name } })
    if (count === 0) throw new Refused('credential_not_found', 'Credential not found')
    const users = await findUsers(transaction, workspaceId, name)
    if (users.length > 0)
      throw new Refused('credential_in_use', `The credential is in use: ${users.join(', ')}`)
    return { result: undefined, entry: { action: 'credential.deleted', subject: name } }
  })
}

/** Of a message. */
const maxNamed = 5

interface UserRow {
  kind: 'rule' | 'draft'
  id: string
  name: string
  actions: Action[]
}

/** Rules that were switched off, shadows and earlier versions do nothing by themselves. */
async function findUsers(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  name: string,
): Promise<string[]> {
  const text = `credentials.${name}`
  const rows = await transaction.$queryRaw<UserRow[]>(Prisma.sql`
    SELECT 'rule' AS kind, id, name, actions FROM rules
    WHERE workspace_id = ${workspaceId}::uuid AND is_active AND position(${text} in actions::text) > 0
    UNION ALL
    SELECT 'draft', rule_id, name, actions FROM rule_drafts
    WHERE workspace_id = ${workspaceId}::uuid AND position(${text} in actions::text) > 0`)
  // A name may begin another one.
  const users = rows.filter(({ actions }) =>
    actions.some(({ config }) => listCredentialUses(config, '').some((use) => use.name === name)),
  )
  const named = users
    .slice(0, maxNamed)
    .map(
      ({ kind, id, name }) => `${kind === 'rule' ? 'the rule' : 'the draft of the rule'} "${name}" (${id})`,
    )
  const others = users.length - named.length
  return others > 0 ? [...named, `and ${others} more`] : named
}

/** Lists the credentials that rules name and the workspace lacks. */
export async function listMissingCredentials(
  { credential }: Pick<WorkspaceDatabase, 'credential'>,
  rules: readonly { actions: unknown }[],
): Promise<string[]> {
  const actions = rules.flatMap((rule) => rule.actions as Action[])
  const uses = actions.flatMap(({ config }) => listCredentialUses(config, ''))
  const names = [...new Set(uses.map(({ name }) => name))]
  if (names.length === 0) return []
  const found = await credential.findMany({ where: { name: { in: names } }, select: { name: true } })
  const known = new Set(found.map(({ name }) => name))
  return names.filter((name) => !known.has(name)).sort()
}

/**
 * What is probably a mistake in the credentials of a rule: unknown ones, and those that are not for the host of the call.
 *
 * @param list is asked if the rule uses any; undefined: nothing is said of them
 */
export async function findWarningsOfCredentials(
  actions: readonly Action[],
  list: () => Promise<Credential[] | undefined>,
): Promise<Fault[]> {
  const isUsed = actions.some(({ config }) => listCredentialUses(config, '').length > 0)
  const credentials = isUsed ? await list() : undefined
  return credentials === undefined ? [] : findCredentialWarnings(actions, credentials)
}
