/** Something of a workspace. */
export interface Owned {
  workspaceId: string
  /** Of the workspace; null or undefined where nobody created it. */
  createdBy?: string | null
}

/** @returns the key of its owner: the creator of its workspace, whose workspaces share limits, or the workspace where it has none */
export function ownerOf({ workspaceId, createdBy }: Owned): string {
  return createdBy ?? `workspace:${workspaceId}`
}
