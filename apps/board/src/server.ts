import { readOrExit } from '@automation/environment'
import { serve } from '@automation/server'
import { buildApp } from './app.js'
import { readConfig } from './config.js'

const config = readOrExit(readConfig)
await serve(await buildApp(config), config)
