import { serve } from '@automation/process/server'
import { readOrExit } from '@automation/process/settings'
import { buildApp } from './app.js'
import { readConfig } from './config.js'

const config = readOrExit(readConfig)
await serve(await buildApp(config), config)
