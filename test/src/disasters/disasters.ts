import type { Disaster } from './disaster.js'
import { pointInTime } from './point-in-time.js'
import { postgresSync } from './postgres-sync.js'
import { restore } from './restore.js'

/** In the order of the list. */
export const disasters: readonly Disaster[] = [postgresSync, restore, pointInTime]
