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
  /** The lanes that have a waiter and a slot of their own left for it; the next one first. */
  readonly ready: Set<Lane<Waiter>>
}

export interface LaneSlots {
  workspace: number
  lane: number
  /** Of a destination that all workspaces share, over all of its lanes. One lane of it has half of them. */
  shared: number
}

/**
 * Creates the lanes that have calls in flight or waiting, and their turns: a round goes over the workspaces, and within each over its
 * lanes.
 *
 * @param isShared true for a destination that all workspaces share
 */
export function createLanes<Waiter>(slots: LaneSlots, isShared: (destination: string) => boolean) {
  const workspaces = new Map<string, Workspace<Waiter>>()
  /** The workspaces that have a slot left and a ready lane; the next one first. */
  const ready = new Set<Workspace<Waiter>>()
  /** Calls in flight, by shared destination. */
  const shared = new Map<string, number>()

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
    hasSlot: (lane: Lane<Waiter>): boolean =>
      hasOwnSlot(lane) && lane.workspace.inFlight < slots.workspace && !isTaken(lane.destination),
    /** Notes that a call of a lane has begun or ended. */
    count(lane: Lane<Waiter>, change: 1 | -1): void {
      lane.inFlight += change
      lane.workspace.inFlight += change
      if (!isShared(lane.destination)) return
      shared.set(lane.destination, (shared.get(lane.destination) ?? 0) + change)
    },
    /** @returns the lane whose turn it is, undefined where none is ready. `settle` puts it at the end of both rounds. */
    takeNext(): Lane<Waiter> | undefined {
      for (const workspace of ready) {
        for (const lane of workspace.ready) {
          if (isTaken(lane.destination)) continue
          ready.delete(workspace)
          workspace.ready.delete(lane)
          return lane
        }
      }
      return undefined
    },
    /** Updates whether a lane and its workspace are ready, and removes those that are empty. */
    settle(lane: Lane<Waiter>): void {
      const { workspace } = lane
      if (lane.waiters.size > 0 && hasOwnSlot(lane)) workspace.ready.add(lane)
      else workspace.ready.delete(lane)
      if (workspace.ready.size > 0 && workspace.inFlight < slots.workspace) ready.add(workspace)
      else ready.delete(workspace)
      if (lane.inFlight > 0 || lane.waiters.size > 0) return
      workspace.lanes.delete(lane.destination)
      if (workspace.lanes.size === 0) workspaces.delete(workspace.id)
    },
  }

  function hasOwnSlot({ inFlight, destination }: Lane<Waiter>): boolean {
    return inFlight < (isShared(destination) ? Math.ceil(slots.shared / 2) : slots.lane)
  }

  /** True for a shared destination whose slots are all taken: its lanes keep their turns. */
  function isTaken(destination: string): boolean {
    return (shared.get(destination) ?? 0) >= slots.shared
  }

  function openWorkspace(id: string): Workspace<Waiter> {
    const workspace = { id, inFlight: 0, waiting: 0, lanes: new Map(), ready: new Set<Lane<Waiter>>() }
    workspaces.set(id, workspace)
    return workspace
  }
}
