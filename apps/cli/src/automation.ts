#!/usr/bin/env node
import { createClientProgram } from './create-client-program.js'
import { startProgram } from './start-program.js'

await startProgram(await createClientProgram('automation'))
