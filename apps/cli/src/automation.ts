#!/usr/bin/env node
import { createAutomation } from './create-automation.js'
import { startProgram } from './start-program.js'

await startProgram(createAutomation())
