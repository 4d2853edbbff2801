import { serve } from '@automation/process/server'
import { readOrExit } from '@automation/process/settings'
import { logLibraries } from '@automation/process/telemetry'
import { buildApp } from './app.js'
import { readConfig } from './config.js'

const config = readOrExit(readConfig)
logLibraries('console', config.logLevel)
await serve(await buildApp(config), config)
