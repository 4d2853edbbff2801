import type { Server } from 'node:net'
import type { Stage } from '../product.js'
import type { Rule, Workspace } from '../workspace.js'
import type { Attacker } from './attacker.js'

/** What one member of a workspace does to the service, within the default rate limits. */
export interface Attack {
  name: string
  rules: Rule[]
  /** A server outside that the attack abuses; the product gets its settings once it listens. */
  outside?: { server: () => Server; settingsFor: (port: number) => Record<string, string> }
  /** The rules of the quiet workspaces, if they are not the usual ones. */
  quietRules?: (port: number) => Rule[]
  /** Stores what the workspace has gathered before the attack. */
  prepare?(workspace: Workspace, stage: Stage): Promise<void>
  /** @returns the paths of links that the attacker has got */
  gatherLinks?(workspace: Workspace, stage: Stage): Promise<string[]>
  /** Finds what the attack needs, or makes it, in the last moment before it. @returns the attack, which lasts until the attacker's signal */
  begin(workspace: Workspace, links: string[]): Promise<(attacker: Attacker) => Promise<void>>
}
