/** The calls of a workspace to one destination. A `Waiter` is a call that waits for a slot. */
export interface Lane<Waiter> {
  readonly workspace: Workspace<Waiter>
  readonly destination: string
  inFlight: number
  /** In the order of their arrival. */
  readonly waiters: Set<Waiter>
}

interface Workspace<Waiter> {
  readonly id: string
  inFlight: number
  waiting: number
  readonly lanes: Map<string, Lane<Waiter>>
  /** The lanes that have a waiter and a slot left for it; the next one first. */
  readonly ready: Set<Lane<Waiter>>
}

/**
 * Creates the lanes that have calls in flight or waiting, and their turns: a round goes over the workspaces, and within each over its
 * lanes.
 */
export function createLanes<Waiter>(slotsOfWorkspace: number, slotsOfLane: number) {
  const workspaces = new Map<string, Workspace<Waiter>>()
  /** The workspaces that have a slot left and a ready lane; the next one first. */
  const ready = new Set<Workspace<Waiter>>()

  return {
    /** Finds or creates a lane. After each change of it, `settle` has to be called. */
    open(workspaceId: string, destination: string): Lane<Waiter> {
      const workspace = workspaces.get(workspaceId) ?? openWorkspace(workspaceId)
      const known = workspace.lanes.get(destination)
      if (known) return known
      const lane = { workspace, destination, inFlight: 0, waiters: new Set<Waiter>() }
      workspace.lanes.set(destination, lane)
      return lane
    },
    hasSlot({ inFlight, workspace }: Lane<Waiter>): boolean {
      return inFlight < slotsOfLane && workspace.inFlight < slotsOfWorkspace
    },
    /** @returns the lane whose turn it is, undefined where none is ready. `settle` puts it at the end of both rounds. */
    takeNext(): Lane<Waiter> | undefined {
      const [workspace] = ready
      const [lane] = workspace?.ready ?? []
      if (workspace === undefined || lane === undefined) return undefined
      ready.delete(workspace)
      workspace.ready.delete(lane)
      return lane
    },
    /** Updates whether a lane and its workspace are ready, and removes those that are empty. */
    settle(lane: Lane<Waiter>): void {
      const { workspace } = lane
      if (lane.waiters.size > 0 && lane.inFlight < slotsOfLane) workspace.ready.add(lane)
      else workspace.ready.delete(lane)
      if (workspace.ready.size > 0 && workspace.inFlight < slotsOfWorkspace) ready.add(workspace)
      else ready.delete(workspace)
      if (lane.inFlight > 0 || lane.waiters.size > 0) return
      workspace.lanes.delete(lane.destination)
      if (workspace.lanes.size === 0) workspaces.delete(workspace.id)
    },
  }

  function openWorkspace(id: string): Workspace<Waiter> {
    const workspace = { id, inFlight: 0, waiting: 0, lanes: new Map(), ready: new Set<Lane<Waiter>>() }
    workspaces.set(id, workspace)
    return workspace
  }
}
