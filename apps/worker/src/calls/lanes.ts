/** The calls of a workspace to one destination. `Waiter` stands for whoever waits for a place. */
export interface Lane<Waiter> {
  readonly workspace: Workspace<Waiter>
  readonly destination: string
  inFlight: number
  /** In order. */
  readonly line: Set<Waiter>
}

interface Workspace<Waiter> {
  readonly id: string
  inFlight: number
  waiting: number
  readonly lanes: Map<string, Lane<Waiter>>
  /** The lanes that have a place left and somebody who waits for it; the next one first. */
  readonly ready: Set<Lane<Waiter>>
}

/** Lanes that have somebody in flight or in line, and whose turn it is: one round goes over the workspaces, and within each over its lanes. */
export function createLanes<Waiter>(placesOfWorkspace: number, placesOfLane: number) {
  const workspaces = new Map<string, Workspace<Waiter>>()
  /** The workspaces that have a place left and a ready lane; the next one first. */
  const ready = new Set<Workspace<Waiter>>()

  return {
    /** Opened where it is not there. To be settled after each change of it. */
    open(workspaceId: string, destination: string): Lane<Waiter> {
      const workspace = workspaces.get(workspaceId) ?? openWorkspace(workspaceId)
      const known = workspace.lanes.get(destination)
      if (known) return known
      const lane = { workspace, destination, inFlight: 0, line: new Set<Waiter>() }
      workspace.lanes.set(destination, lane)
      return lane
    },
    hasPlace({ inFlight, workspace }: Lane<Waiter>): boolean {
      return inFlight < placesOfLane && workspace.inFlight < placesOfWorkspace
    },
    /** The lane whose turn it is, undefined where none is ready. It comes to the end of both rounds when it is settled. */
    takeNext(): Lane<Waiter> | undefined {
      const [workspace] = ready
      const [lane] = workspace?.ready ?? []
      if (workspace === undefined || lane === undefined) return undefined
      ready.delete(workspace)
      workspace.ready.delete(lane)
      return lane
    },
    /** Makes a lane and its workspace ready or not, whichever they are by now, and forgets those that are empty. */
    settle(lane: Lane<Waiter>): void {
      const { workspace } = lane
      if (lane.line.size > 0 && lane.inFlight < placesOfLane) workspace.ready.add(lane)
      else workspace.ready.delete(lane)
      if (workspace.ready.size > 0 && workspace.inFlight < placesOfWorkspace) ready.add(workspace)
      else ready.delete(workspace)
      if (lane.inFlight > 0 || lane.line.size > 0) return
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
