import type { Disaster } from './disaster.js'
import { postgresSync } from './postgres-sync.js'

/** In the order of the list. */
export const disasters: readonly Disaster[] = [postgresSync]
